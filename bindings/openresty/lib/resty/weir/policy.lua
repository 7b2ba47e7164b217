--- policy: policies of weir, files for Lua 5.4, in a worker of nginx.
--
-- policy.open { path = "chat.lua" }     a policy; or { text = , name = "chat" }. All else is optional:
--     memory = "1MiB", instructions = 200000, deadline = "50ms"    bounds of one call
--     field_size = "8KiB", cut_fields = true    the longest field that a policy may read; a longer one is an error, or
--                         is cut to that
--     fields = { key = "http_x_api_key", path = false }    more fields of a request, as variables of nginx, or fewer
--     watch = "1s"        with path: when a request comes and that long has passed, looks whether the file has changed
--
-- policy:decide(store[, request])       the joint row, with `allowed`, `reason`, `binding`, the place of the row that
--                         binds, `rows` and their `limits`; each row has also `name`, `key` and `shadow`
-- policy:respond(store, request, response, allowed)    true; runs the policy's response, then its refunds and charges
-- policy:request()        the fields of nginx's request as a table, to be changed, or for a timer
-- policy:reload([text])   true; from the file, or from text. The last good policy stays when the new one is wrong
-- policy:limits()         a list of { name, algorithm, limit, shadow }
-- policy:has_response()   true or false
-- policy:close()
--
-- A request is a table of fields, text or numbers; `time`, in microseconds, is the store's clock unless given. nil: the
-- request that nginx serves, with the fields of fields.lua and those of the option. The response likewise; nil: status
-- and size, as text.
--
-- Whatever fails answers nil, message, code; no request is let pass or refused by that. A store of libweir decides in
-- one call of C. Any other that has the verbs and rows of resty.weir.store, such as resty.weir.redis, may yield: what
-- belongs to a request is in what is returned, and nothing of it here. With such a store limit:peek is an error of the
-- policy: it would have to wait.
--
-- Each worker has the policy that it opened, so each reloads it by itself; `watch` makes them all follow the file.

local core = require "resty.weir.core"
local ffi = require "ffi"
local fields = require "resty.weir.fields"
local load_library = require "resty.weir.policy_library"
local policy_file = require "resty.weir.policy_file"
local policy_limits = require "resty.weir.policy_limits"
local read_options = require "resty.weir.policy_options"
local read_outcome = require "resty.weir.outcome"
local verdict = require "resty.weir.verdict"
local ngx = ngx

ffi.cdef "typedef struct weir_policy_handle { weir_policy *policy; weir_runner *runner; } weir_policy_handle;"

local store_pointer = ffi.typeof "weir_store *"
local response_variables = fields.variables(fields.response)

-- Filled and read within one call, which never yields.
local request_list, response_list = fields.room(), fields.room()
local request_c = ffi.new "weir_request"
local outcome_c = ffi.new "weir_outcome"
local verdict_c = ffi.new "weir_verdict"
local settlement_c = ffi.new "weir_settlement"

local lib

local function close(handle)
  lib.weir_runner_close(handle.runner)
  lib.weir_policy_close(handle.policy)
  handle.runner, handle.policy = nil, nil
end

-- One owner of both, since the order in which two are collected is not known.
local new_handle = ffi.metatype("weir_policy_handle", { __gc = close })

local Policy = {}
Policy.__index = Policy

local function closed()
  return nil, "the policy is closed", "WEIR_INVALID"
end

local function is_closed(policy)
  return policy.handle.policy == nil
end

local function take_text(policy, text)
  local status = lib.weir_policy_reload_text(policy.handle.policy, text, #text, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  policy.by_address = nil
  return true
end

local function log_broken(message)
  ngx.log(ngx.ERR, "weir: the last good policy stays: ", message)
end

-- Takes what the file holds when that is new. Each mistake is logged once.
local function look_at_file(policy)
  local text, message = policy.file:changed(policy.watch)
  if text then
    local _
    _, message = take_text(policy, text)
  end
  if message and message ~= policy.logged then
    log_broken(message)
  end
  policy.logged = message or not text and policy.logged or nil
end

function Policy:reload(text)
  if is_closed(self) then
    return closed()
  end
  local done, message, code
  if text == nil and self.file then
    text, message, code = self.file:read()
  elseif type(text) ~= "string" then
    return core.invalid("text", text, "the text of a policy")
  end
  if text then
    done, message, code = take_text(self, text)
  end
  if not done then
    log_broken(message)
    return nil, message, code
  end
  return true
end

-- Fills request_c.
local function read_request(policy, given)
  local ok, message, code
  request_c.time_us = 0
  if given == nil then
    ok, message, code = fields.of_nginx(request_list, policy.variables, "request")
  else
    ok, message, code = fields.of_table(request_list, given, "request")
  end
  if not ok then
    return nil, message, code
  end
  local time = given and given.time
  if time ~= nil then
    if not core.whole(time, "request.time", core.NOW_MAX) or time == 0 then
      return core.invalid("request.time", time, ("a whole number from 1 to %.0f"):format(core.NOW_MAX))
    end
    request_c.time_us = time
  end
  request_c.fields, request_c.count = request_list.c, request_list.count
  return true
end

local function read_response(given)
  if given == nil then
    return fields.of_nginx(response_list, response_variables, "response")
  end
  return fields.of_table(response_list, given, "response")
end

local function limits_by_address(policy)
  policy.by_address = policy.by_address or policy_limits.by_address(lib, policy.handle.policy)
  return policy.by_address
end

local function decide_here(policy, store_c)
  local status = lib.weir_runner_decide(policy.handle.runner, store_c, request_c, outcome_c, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return read_outcome(outcome_c, limits_by_address(policy))
end

local function decide_elsewhere(policy, store)
  local status = lib.weir_runner_ask(policy.handle.runner, nil, request_c, verdict_c, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return verdict.take(store, verdict.copy(verdict_c, limits_by_address(policy)))
end

local function respond_here(policy, store_c, allowed)
  local status = lib.weir_runner_respond(policy.handle.runner, store_c, request_c, response_list.c,
    response_list.count, allowed, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return true
end

local function respond_elsewhere(policy, store, allowed)
  local status = lib.weir_runner_settle(policy.handle.runner, nil, request_c, response_list.c, response_list.count,
    allowed, settlement_c, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return verdict.settle(store, verdict.copy_settlement(settlement_c, limits_by_address(policy)))
end

local function wrong_store(store)
  return core.invalid("store", store, "a store of resty.weir, or a table with its verbs")
end

-- Whether libweir itself has the store.
local function is_here(store)
  return ffi.istype(store_pointer, store.c)
end

function Policy:decide(store, request)
  if is_closed(self) then
    return closed()
  end
  if type(store) ~= "table" then
    return wrong_store(store)
  end
  if self.watch then
    look_at_file(self)
  end
  local ok, message, code = read_request(self, request)
  if not ok then
    return nil, message, code
  end
  if is_here(store) then
    return decide_here(self, store.c)
  end
  return decide_elsewhere(self, store)
end

function Policy:respond(store, request, response, allowed)
  if is_closed(self) then
    return closed()
  end
  if type(store) ~= "table" then
    return wrong_store(store)
  end
  if type(allowed) ~= "boolean" then
    return core.invalid("allowed", allowed, "true or false")
  end
  local ok, message, code = read_request(self, request)
  if ok then
    ok, message, code = read_response(response)
  end
  if not ok then
    return nil, message, code
  end
  if is_here(store) then
    return respond_here(self, store.c, allowed)
  end
  return respond_elsewhere(self, store, allowed)
end

function Policy:request()
  return fields.table(self.variables, "request")
end

function Policy:limits()
  if is_closed(self) then
    return closed()
  end
  return policy_limits.list(lib, self.handle.policy)
end

function Policy:has_response()
  if is_closed(self) then
    return closed()
  end
  return lib.weir_policy_has_response(self.handle.policy)
end

function Policy:close()
  close(self.handle)
end

local policy = { _VERSION = ffi.string(core.lib.weir_version()) }

function policy.open(given)
  local read, message, code = read_options(given)
  if not read then
    return nil, message, code
  end
  lib, message, code = load_library()
  if not lib then
    return nil, message, code
  end
  local file = read.path and policy_file.open(read.path)
  local text = read.text
  if file then
    text, message, code = file:read()
    if not text then
      return nil, message, code
    end
  end
  local handle, policy_c, runner_c = new_handle(), ffi.new "weir_policy *[1]", ffi.new "weir_runner *[1]"
  local name = read.path or read.name or "policy"
  local status = lib.weir_policy_open_text(policy_c, name, text, #text, read.bounds, core.error)
  if status == 0 then
    handle.policy = policy_c[0]
    status = lib.weir_runner_open(runner_c, handle.policy, core.error)
    handle.runner = runner_c[0]
  end
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return setmetatable({ handle = handle, file = file, watch = read.watch, variables = read.variables }, Policy)
end

return policy
