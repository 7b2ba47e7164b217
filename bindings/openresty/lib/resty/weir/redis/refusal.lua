--- refusal: what a server's error says: which code, and whether the same call may be made again.
--
-- refusal.of(text)      { code, again, sentence } of the text of an error. Never nil: an error that nobody knows is
--                       WEIR_PROTOCOL. `again`: nothing ran, and what hinders it may pass
-- refusal.no_script     of a server that lacks the script
--
-- The list is that of the C client. A script that writes is refused at its first write by READONLY, MISCONF and OOM,
-- and all scripts of weir write in one go at their end, so these prove too that nothing ran; the last two wait for a
-- person.

local refusal = {}

local function known(begin, code, sentence, again)
  return { begin = begin, code = "WEIR_" .. code, sentence = sentence, again = again == "again" }
end

local no_right = "the user lacks a right; see its ACL"
local foreign = "the key holds what this algorithm did not write; reset it or give the limit another name"

local list = {
  known("LOADING", "LOADING", "the server is still loading its data", "again"),
  known("BUSY", "BUSY", "the server is busy with a script of somebody else", "again"),
  known("READONLY", "READONLY", "the server is a replica; the address must be that of the primary", "again"),
  known("MASTERDOWN", "NOT_EXECUTED", "the server is a replica that lost its primary", "again"),
  known("CLUSTERDOWN", "NOT_EXECUTED", "the cluster is down", "again"),
  known("TRYAGAIN", "NOT_EXECUTED", "the cluster is moving the keys", "again"),
  known("ERR max number of clients reached", "NOT_EXECUTED",
    "the server has as many clients as it takes; raise maxclients", "again"),
  known("NOREPLICAS", "NOT_EXECUTED", "the server has fewer replicas than it wants", "again"),
  known("MISCONF", "NOT_EXECUTED", "the server can't save to disk and takes no writes until it can"),
  known("OOM", "SERVER_FULL", "the server has no memory left; raise maxmemory"),
  known("WRONGPASS", "WRONG_PASSWORD", "the server knows no such user and password"),
  known("NOAUTH", "WRONG_PASSWORD", "the server wants a password, and none was given"),
  known("ERR invalid password", "WRONG_PASSWORD", "the server has another password"),
  known("ERR AUTH", "WRONG_PASSWORD", "the server has no password, and one was given"),
  known("ERR Client sent AUTH", "WRONG_PASSWORD", "the server has no password, and one was given"),
  known("ERR DB index is out of range", "WRONG_DB", "the server has no database of that number"),
  known("ERR invalid DB index", "WRONG_DB", "the server has no database of that number"),
  known("ERR SELECT is not allowed", "WRONG_DB", "a cluster has only database 0"),
  known("NOPERM", "NOT_PERMITTED", no_right),
  known("ERR unknown command", "NOT_PERMITTED", "the server lacks that command"),
  known("MOVED", "WRONG_NODE", "the key lives on another node of the cluster"),
  known("ASK", "WRONG_NODE", "the key is moving to another node of the cluster"),
  known("CROSSSLOT", "CROSS_SLOT", "the keys live in different slots of the cluster; give the checks one tag"),
  known("WEIR_STATE", "STATE", foreign),
  known("WRONGTYPE", "STATE", foreign),
  known("WEIR_INVALID", "INVALID", "the script does not take these values"),
  known("ERR Protocol error", "PROTOCOL", "the server did not understand the bytes"),
  known("ERR", "PROTOCOL", "the script failed; whether it has counted is not known"),
}

local unknown = known("", "PROTOCOL", "the server answered with an error that weir does not know")
local lacks_right = known("ERR", "NOT_PERMITTED", no_right)

refusal.no_script = known("NOSCRIPT", "NOT_EXECUTED", "the server would not keep the script", "again")

-- A code is a whole word; what begins with ERR is known by its first words.
local function begins(text, begin)
  if text:sub(1, #begin) ~= begin then
    return false
  end
  local follows = text:sub(#begin + 1, #begin + 1)
  return follows == "" or follows == " " or begin:sub(1, 4) == "ERR "
end

-- Older servers wrap the error of a command that a script called in their own: the one that counts comes after the
-- last colon with a dash.
local function unwrap(text)
  if text:sub(1, 24) ~= "ERR Error running script" then
    return text
  end
  return text:match "^.*: %-(.*)$" or text
end

-- A right that a script lacks has no code of its own; servers say it in these words.
local function is_of_rights(text)
  return text:sub(1, 4) == "ERR " and (text:find("ACL failure in script", 1, true) ~= nil
    or text:find("The user executing the script can't", 1, true) ~= nil)
end

function refusal.of(text)
  text = unwrap(text)
  if begins(text, "NOSCRIPT") then
    return refusal.no_script
  end
  if is_of_rights(text) then
    return lacks_right
  end
  for _, one in ipairs(list) do
    if begins(text, one.begin) then
      return one
    end
  end
  return unknown
end

return refusal
