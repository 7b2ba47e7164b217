--- vectors: the sequences of spec/vectors with their right answers, each made into calls of a script.

local calls = require "spec.scripts.support.calls"
local json = require "dkjson"

local vectors = {}

local function lines(name)
  local all = {}
  for line in assert(io.open("spec/vectors/" .. name .. ".jsonl")):lines() do
    all[#all + 1] = json.decode(line)
  end
  return all
end

-- A row as one string, so that numbers of any kind compare.
function vectors.text(row)
  local words = {}
  for index, value in ipairs(row) do
    words[index] = string.format("%.0f", value)
  end
  return table.concat(words, " ")
end

local function flat(expected)
  local row = { expected[1], expected[2] }
  for _, one in ipairs(expected[3]) do
    for _, value in ipairs(one) do
      row[#row + 1] = value
    end
  end
  return row
end

-- Sequences of a file: { script, keys (how many), calls = { { argv, expected row as text }, ... } }.
function vectors.load(name)
  local sequences = {}
  for index, vector in ipairs(lines(name)) do
    local sequence = { index = index, calls = {} }
    for number, event in ipairs(vector.events) do
      local argv, expected
      if vector.limits then
        sequence.script, sequence.keys = "all", #vector.limits
        argv = calls.all(vector.limits, "take", event[1], event[2])
        expected = flat(vector.expect[number])
      else
        sequence.script, sequence.keys = vector.limit.algorithm, 1
        argv = calls.one(vector.limit, event[1], event[2], event[3])
        expected = vector.expect[number]
      end
      sequence.calls[number] = { argv, vectors.text(expected) }
    end
    sequences[index] = sequence
  end
  return sequences
end

return vectors
