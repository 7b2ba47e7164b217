--- address: the text of an address, cut to its network and spelled in one way only.
--
-- address(text[, bits = 64[, bits_v4 = 32]])   the network, such as "2001:db8::/64" or "192.0.2.1";
--                                              nil and a sentence when the text is no address
--
-- One host owns billions of IPv6 addresses, so a limit counts the network: `bits` of it. An IPv4 address mapped into
-- IPv6 is that IPv4 address, a zone ("%eth0") is dropped, and brackets, ports and anything else are refused.

local byte, find, format, gsub, match, sub =
  string.byte, string.find, string.format, string.gsub, string.match, string.sub
local concat = table.concat

local COLON = byte(":")

-- The four numbers of an IPv4 address, or nil. Leading zeros are refused: half of the world reads them as octal.
local function read_v4(text)
  local a, b, c, d = match(text, "^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
  if not a or #text > 15 or find(text, "%f[%d]0%d") then
    return nil
  end
  a, b, c, d = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
  if a > 255 or b > 255 or c > 255 or d > 255 then
    return nil
  end
  return a, b, c, d
end

-- Appends the 16-bit groups of one side of "::". False when there is anything else.
local function read_groups(text, groups)
  local from, past = 1, #text + 1
  if past == 1 then
    return true
  end
  while #groups < 8 do
    local digits, after = match(text, "^(%x%x?%x?%x?)()", from)
    if not digits then
      return false
    end
    groups[#groups + 1] = tonumber(digits, 16)
    if after == past then
      return true
    end
    if byte(text, after) ~= COLON then
      return false
    end
    from = after + 1
  end
  return false
end

-- An IPv4 address at the end stands for the last two groups.
local function replace_v4(text)
  local head, tail = match(text, "^(.*:)([%d.]+)$")
  local a, b, c, d = read_v4(tail or "")
  return a and format("%s%x:%x", head, a * 256 + b, c * 256 + d)
end

-- The eight groups of an IPv6 address, or nil.
local function read_v6(text)
  if find(text, ".", 1, true) then
    text = replace_v4(text)
    if not text then
      return nil
    end
  end
  local gap = find(text, "::", 1, true)
  local groups, after = {}, {}
  if not gap then
    return read_groups(text, groups) and #groups == 8 and groups or nil
  end
  if not read_groups(sub(text, 1, gap - 1), groups) or not read_groups(sub(text, gap + 2), after) then
    return nil
  end
  if #groups + #after > 7 then
    return nil
  end
  for i = #groups + 1, 8 - #after do
    groups[i] = 0
  end
  for i = 1, #after do
    groups[8 - #after + i] = after[i]
  end
  return groups
end

-- Keeps the first `bits` of numbers that are `width` bits each.
local function cut(numbers, width, bits)
  for i = 1, #numbers do
    local keep = bits - width * (i - 1)
    if keep <= 0 then
      numbers[i] = 0
    elseif keep < width then
      numbers[i] = numbers[i] - numbers[i] % 2 ^ (width - keep)
    end
  end
end

-- The longest run of zero groups, the first of equals; from 9 when none is longer than one.
local function longest_zeros(groups)
  local from, longest, run = 9, 1, 0
  for i = 1, 8 do
    run = groups[i] == 0 and run + 1 or 0
    if run > longest then
      from, longest = i - run + 1, run
    end
  end
  return from, from + longest
end

local function write_groups(groups, first, last)
  local texts = {}
  for i = first, last do
    texts[#texts + 1] = format("%x", groups[i])
  end
  return concat(texts, ":")
end

local function write_v6(groups)
  local from, past = longest_zeros(groups)
  if from > 8 then
    return write_groups(groups, 1, 8)
  end
  return write_groups(groups, 1, from - 1) .. "::" .. write_groups(groups, past, 8)
end

local function is_mapped(groups)
  for i = 1, 5 do
    if groups[i] ~= 0 then
      return false
    end
  end
  return groups[6] == 65535
end

local function write_v4(a, b, c, d, bits)
  if bits == 32 then
    return format("%d.%d.%d.%d", a, b, c, d)
  end
  local octets = { a, b, c, d }
  cut(octets, 8, bits)
  return format("%d.%d.%d.%d/%d", octets[1], octets[2], octets[3], octets[4], bits)
end

local function check_bits(bits, most, name)
  if type(bits) ~= "number" or bits % 1 ~= 0 or bits < 0 or bits > most then
    error(format("%s was %s; it must be a whole number from 0 to %d", name, tostring(bits), most), 3)
  end
end

return function(text, bits, bits_v4)
  bits, bits_v4 = bits or 64, bits_v4 or 32
  check_bits(bits, 128, "bits")
  check_bits(bits_v4, 32, "bits_v4")
  if type(text) ~= "string" then
    return nil, "the address was " .. tostring(text) .. "; it must be text"
  end
  local a, b, c, d = read_v4(text)
  if a then
    return write_v4(a, b, c, d, bits_v4)
  end
  local groups = #text <= 128 and read_v6((gsub(text, "%%[%w_.-]+$", "")))
  if not groups then
    local wanted = "an IPv4 or IPv6 address without brackets or port"
    return nil, format("the address was %q; it must be %s", sub(text, 1, 64), wanted)
  end
  if is_mapped(groups) then
    local high, low = groups[7], groups[8]
    return write_v4((high - high % 256) / 256, high % 256, (low - low % 256) / 256, low % 256, bits_v4)
  end
  cut(groups, 16, bits)
  return bits < 128 and format("%s/%d", write_v6(groups), bits) or write_v6(groups)
end
