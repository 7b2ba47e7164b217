--- calls: has calls answered by the server, or given up, by one deadline, and never blocks the worker.
--
-- calls.run(settings, list)    each call then has `answer`, or `code` and `message`
--
-- A call is { command = "evalsha", words, script, read } or { command = "del", words, read }: words[1] is left for the
-- script, and read(reply) gives the answer, or nil when the reply is none to it.
--
-- The calls run in a light thread beside an alarm: whichever of the library's waits it is in, the deadline ends it. A
-- call is made again only when the server itself said that nothing ran, or when an idle connection took nothing of it.
-- What left and found no reply is WEIR_INDETERMINATE, and stays so. Only a connection whose every reply was in order
-- goes back to the pool.

local connection = require "resty.weir.redis.connection"
local ngx = ngx
local refusal = require "resty.weir.redis.refusal"

local kill, spawn, wait = ngx.thread.kill, ngx.thread.spawn, ngx.thread.wait

local BACKOFF_FIRST_S = 0.002
local BACKOFF_LAST_S = 0.064

local no_time = { code = "WEIR_NOT_EXECUTED", sentence = "the deadline passed before the call was sent" }
local no_answer = {
  code = "WEIR_INDETERMINATE", sentence = "no answer came by the deadline; it was counted once or not at all",
}
local broke_after = {
  code = "WEIR_INDETERMINATE",
  sentence = "the connection broke before the answer; it was counted once or not at all",
}
local broke_before = { code = "WEIR_NOT_EXECUTED", sentence = "the connection broke before the call was sent" }
local not_a_reply = {
  code = "WEIR_PROTOCOL", sentence = "what came back is not a reply; it was counted once or not at all",
}
local wrong_reply = { code = "WEIR_PROTOCOL", sentence = "the reply was not that of the script" }

local Job = {}
Job.__index = Job

function Job:open_calls()
  local list = {}
  for _, call in ipairs(self.calls) do
    if call.open then
      list[#list + 1] = call
    end
  end
  return list
end

local function printable(text)
  return (text:sub(1, 200):gsub("[^ -~]", "?"))
end

function Job:fail(call, failure, said)
  call.open, call.answer = false, nil
  call.code = failure.code
  call.message = ("redis at %s: %s%s"):format(self.settings.address, failure.sentence,
    said and ". It said: " .. printable(said) or "")
end

-- Ends what is open. Where nothing ran, what the server refused a call with before says more.
function Job:give_up(failure)
  for _, call in ipairs(self:open_calls()) do
    self:fail(call, failure.code == "WEIR_NOT_EXECUTED" and call.refused or failure)
  end
end

function Job:close()
  if self.red then
    pcall(self.red.close, self.red)
    self.red = nil
  end
end

-- A stream that turned out wrong is believed in nothing: its replies may have been another's.
function Job:disbelieve()
  for _, call in ipairs(self.calls) do
    self:fail(call, not_a_reply)
  end
end

-- The first call that lacks a script brings it; those behind it in the pipeline find it there. Who lacks it again,
-- behind a proxy that spreads calls, brings it itself.
local function brings_body(call, list)
  if call.unknown ~= 1 then
    return call.unknown > 1
  end
  for _, other in ipairs(list) do
    if other == call then
      return true
    end
    if other.unknown > 0 and other.script == call.script then
      return false
    end
  end
end

local function send(red, list)
  red:init_pipeline(#list)
  for _, call in ipairs(list) do
    local command, words = call.command, call.words
    if call.script then
      local with_body = brings_body(call, list)
      command = with_body and "eval" or command
      words[1] = with_body and call.script.body or call.script.sha1
    end
    red[command](red, unpack(words))
  end
  return red:commit_pipeline()
end

function Job:on_error(call, text)
  local found = refusal.of(text)
  if found == refusal.no_script and call.unknown < 2 then
    call.unknown = call.unknown + 1
    return
  end
  self.drop = true
  if not found.again then
    return self:fail(call, found, text)
  end
  call.refused = found -- what it ends with if there is no time left
  self.again = true
end

function Job:on_replies(list, replies)
  for i, call in ipairs(list) do
    local reply = replies[i]
    if type(reply) == "table" and reply[1] == false then
      self:on_error(call, reply[2])
    else
      call.answer = call.read(reply)
      call.open = false
      if call.answer == nil then
        self.drop = true
        self:fail(call, wrong_reply)
      end
    end
  end
end

-- The library says of one command that its pipe was broken when none of it left; of several, some may have.
function Job:on_break(message, list)
  self.drop = true
  if message == "timeout" then
    return self:give_up(no_answer)
  end
  if message ~= "broken pipe" or #list > 1 then
    return self:give_up(broke_after)
  end
  if not self.was_idle then
    self:give_up(broke_before)
  end
end

-- The library raises on some of what is not the protocol, and gives no message or that of a prefix on the rest.
function Job:exchange(list)
  self.late = no_answer
  local fine, replies, message = pcall(send, self.red, list)
  self.late = no_time
  if fine and replies then
    return self:on_replies(list, replies)
  end
  if not fine or not message or message:find("unknown prefix", 1, true) then
    self.drop = true
    return self:disbelieve()
  end
  return self:on_break(message, list)
end

-- Opens a connection if there is none. False when that failed; the calls are given up unless it may soon succeed.
function Job:connect()
  if self.red then
    return true
  end
  local red, second = connection.open(self.settings, self)
  if red then
    self.red, self.was_idle = red, second
    return true
  end
  if not second.again then
    self:give_up(second)
    return false
  end
  for _, call in ipairs(self:open_calls()) do
    call.refused = call.refused or second
  end
  self.again = true
  return false
end

-- Waits before the calls are made again, half to all of pause_s, so that those who were refused together part.
function Job:back_off(pause_s)
  local wait_s = pause_s * (1 + math.random()) / 2
  if ngx.now() + wait_s >= self.ends_s then
    return self:give_up(no_time)
  end
  self.late = no_time
  ngx.sleep(wait_s)
end

-- Gives the connection back. Bytes that nobody asked for mean that some reply was another's.
function Job:finish()
  if not self.red then
    return
  end
  if self.drop then
    return self:close()
  end
  local kept, message = self.red:set_keepalive(self.settings.keepalive, self.settings.pool_size)
  if not kept then
    if message == "unread data in buffer" then
      self:disbelieve()
    end
    self:close()
  end
end

function Job:run()
  local pause_s = BACKOFF_FIRST_S
  local list = self.calls
  while #list > 0 do
    self.again, self.drop = false, false
    if self:connect() then
      self:exchange(list)
    end
    list = self:open_calls()
    if self.drop and #list > 0 then
      self:close()
    end
    if self.again then
      self:back_off(pause_s)
      pause_s = math.min(pause_s * 2, BACKOFF_LAST_S)
      list = self:open_calls()
    end
  end
  self:finish()
  self.done = true
end

local calls = {}

function calls.run(settings, list)
  ngx.update_time() -- what nginx takes for now may be long ago
  local job = setmetatable({
    settings = settings,
    calls = list,
    ends_s = ngx.now() + settings.timeout_s,
    late = no_time, -- what a call ends with if the deadline comes now
  }, Job)
  for _, call in ipairs(list) do
    call.open, call.unknown = true, 0
  end
  local worker = spawn(job.run, job)
  if job.done then
    wait(worker)
    return
  end
  local alarm = spawn(function()
    ngx.sleep(settings.timeout_s)
  end)
  wait(worker, alarm)
  kill(alarm)
  if not job.done then
    kill(worker)
    job:close()
    job:give_up(job.late)
  end
end

return calls
