--- sha1: the digest by which a server knows a script, in 40 hexadecimal digits. Needs Lua 5.4.

local MASK = 0xffffffff

local function rotate(word, bits)
  return (word << bits | word >> (32 - bits)) & MASK
end

local function block(text, place, h)
  local w = { string.unpack(">I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4", text, place) }
  for t = 17, 80 do
    w[t] = rotate(w[t - 3] ~ w[t - 8] ~ w[t - 14] ~ w[t - 16], 1)
  end
  local a, b, c, d, e = h[1], h[2], h[3], h[4], h[5]
  for t = 1, 80 do
    local f, k
    if t <= 20 then
      f, k = b & c | ~b & MASK & d, 0x5a827999
    elseif t <= 40 then
      f, k = b ~ c ~ d, 0x6ed9eba1
    elseif t <= 60 then
      f, k = b & c | b & d | c & d, 0x8f1bbcdc
    else
      f, k = b ~ c ~ d, 0xca62c1d6
    end
    a, b, c, d, e = (rotate(a, 5) + f + e + k + w[t]) & MASK, a, rotate(b, 30), c, d
  end
  for index, word in ipairs { a, b, c, d, e } do
    h[index] = (h[index] + word) & MASK
  end
end

return function(text)
  local h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 }
  local padded = text .. "\128" .. ("\0"):rep((55 - #text) % 64) .. string.pack(">I8", #text * 8)
  for place = 1, #padded, 64 do
    block(padded, place, h)
  end
  return ("%08x%08x%08x%08x%08x"):format(h[1], h[2], h[3], h[4], h[5])
end
