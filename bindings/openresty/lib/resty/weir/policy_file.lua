--- policy_file: the file of a policy, and whether it has changed.
--
-- policy_file.open(path)        a file
-- file:read()                   what it holds; else nil, message, code
-- file:changed(every_us)        what it holds, when that was not read before; nil when it was, or when it is not yet
--                               time to look again. nil, message, code when it can't be read
--
-- What it holds is compared, not its time: a file that was written twice in a second is seen, and one that was touched
-- is not compiled again. A policy is at most 64 KiB, so a look is short.

local ngx = ngx

local TEXT_MAX = 64 * 1024 + 1 -- more than a policy may have, so that a longer one is refused

local File = {}
File.__index = File

local function read(path)
  local handle, reason = io.open(path, "rb")
  if not handle then
    return nil, reason, "WEIR_IO"
  end
  local text, message = handle:read(TEXT_MAX)
  handle:close()
  if not text and message then
    return nil, path .. ": " .. message, "WEIR_IO"
  end
  return text or ""
end

function File:read()
  local text, message, code = read(self.path)
  self.seen = text or self.seen
  return text, message, code
end

function File:changed(every_us)
  local now = ngx.now()
  if now < self.due then
    return nil
  end
  self.due = now + every_us / 1e6
  local seen = self.seen
  local text, message, code = self:read()
  if text == seen then
    return nil
  end
  return text, message, code
end

local policy_file = {}

function policy_file.open(path)
  return setmetatable({ path = path, due = 0 }, File)
end

return policy_file
