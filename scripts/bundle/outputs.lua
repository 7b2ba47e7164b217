--- outputs: the manifest for programs and people, and what clients in C and in Lua embed.

local outputs = {}

local function quoted(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"'
end

-- JSON, since its readers are clients in any language.
function outputs.manifest(scripts)
  local entries = {}
  for _, script in ipairs(scripts) do
    local commands = {}
    for command in script.commands:gmatch("%S+") do
      commands[#commands + 1] = quoted(command)
    end
    entries[#entries + 1] = ("    {\n%s\n    }"):format(table.concat({
      '      "name": ' .. quoted(script.name),
      '      "file": ' .. quoted(script.name .. ".lua"),
      '      "sha1": ' .. quoted(script.sha1),
      '      "size": ' .. #script.body,
      '      "does": ' .. quoted(script.idea),
      '      "keys": ' .. quoted(script.keys),
      '      "argv": ' .. quoted(script.argv),
      '      "reply": ' .. quoted(script.reply),
      '      "writes": ' .. quoted(script.writes),
      '      "commands": [' .. table.concat(commands, ", ") .. "]",
    }, ",\n"))
  end
  return '{\n  "scripts": [\n' .. table.concat(entries, ",\n") .. "\n  ]\n}\n"
end

function outputs.header(count)
  return ([[
// The Redis scripts, as scripts/bundle.lua wrote them.

#ifndef WEIR_SCRIPTS_H
#define WEIR_SCRIPTS_H

#include <stddef.h>

#define WEIR_SCRIPT_COUNT %d

// Text ends with a NUL, which size does not count. sha1 is 40 lower-case hexadecimal digits.
typedef struct weir_script {
    const char *name;
    const char *body;
    size_t size;
    const char *sha1;
    const char *keys; // what KEYS, ARGV and the reply are, and the commands it runs, for people
    const char *argv;
    const char *reply;
    const char *commands;
} weir_script;

extern __attribute__((visibility("hidden"))) const weir_script weir_scripts[WEIR_SCRIPT_COUNT];

#endif
]]):format(count)
end

-- Bytes rather than a string literal, whose length compilers bound.
local function bytes(text)
  local lines = {}
  for place = 1, #text, 20 do
    lines[#lines + 1] = "    " .. text:sub(place, place + 19):gsub(".", function(byte)
      return byte:byte() .. ","
    end)
  end
  return table.concat(lines, "\n") .. "\n    0,\n"
end

function outputs.source(scripts)
  local parts, rows = { '// Written by scripts/bundle.lua.\n\n#include "weir_scripts.h"\n\n' }, {}
  for _, script in ipairs(scripts) do
    parts[#parts + 1] = ("static const char %s_body[] = {\n%s};\n\n"):format(script.name, bytes(script.body))
    rows[#rows + 1] = ("    {\n        %s, %s_body, sizeof %s_body - 1,\n        %s,\n        %s,\n        %s,\n        %s,\n        %s,\n    },\n")
      :format(quoted(script.name), script.name, script.name, quoted(script.sha1), quoted(script.keys),
        quoted(script.argv), quoted(script.reply), quoted(script.commands))
  end
  parts[#parts + 1] = "const weir_script weir_scripts[WEIR_SCRIPT_COUNT] = {\n" .. table.concat(rows) .. "};\n"
  return table.concat(parts)
end

-- A text in long brackets that it does not close; the line break after the first is not of the text.
local function long(text)
  local level = ""
  while text:find("]" .. level .. "]", 1, true) do
    level = level .. "="
  end
  return ("[%s[\n%s]%s]"):format(level, text, level)
end

function outputs.module(scripts)
  local parts = { "--- scripts: the Redis scripts by name, each { sha1, body }. Written by scripts/bundle.lua.\n\nreturn {\n" }
  for _, script in ipairs(scripts) do
    parts[#parts + 1] = ("%s = {\n  sha1 = %s,\n  body = %s,\n},\n")
      :format(script.name, quoted(script.sha1), long(script.body))
  end
  parts[#parts + 1] = "}\n"
  return table.concat(parts)
end

return outputs
