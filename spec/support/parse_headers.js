// Lists of structured fields, a JSON list of texts on stdin, as a JSON list of what they say:
// of each member its string and its parameters. A byte sequence becomes { base64 }.

const { readFileSync } = require("fs");
const { parseList } = require("structured-headers");

function plain(value) {
  if (value instanceof ArrayBuffer) {
    return { base64: Buffer.from(value).toString("base64") };
  }
  if (typeof value === "number" && !Number.isInteger(value)) {
    throw new Error(`${value} is no integer`);
  }
  if (typeof value !== "string" && typeof value !== "number") {
    throw new Error(`${value} is neither a string, an integer nor bytes`);
  }
  return value;
}

function member([value, parameters]) {
  if (typeof value !== "string") {
    throw new Error(`${value} is no string`);
  }
  const entries = [...parameters].map(([name, parameter]) => [name, plain(parameter)]);
  return { name: value, parameters: Object.fromEntries(entries) };
}

const texts = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => parseList(text).map(member))));
