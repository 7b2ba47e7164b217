--- policy_library: libweir_policy in LuaJIT, with a Lua 5.4 of its own.
--
-- policy_library()   the library; else nil, message, code
--
-- A host of LuaJIT has the names of Lua's interface already, and a library that is loaded plainly is bound to those.
-- RTLD_DEEPBIND, which ffi.load can't ask for, binds it to Lua 5.4 first. Only the first load in a process binds: where
-- another came before, the library finds LuaJIT under it and refuses every policy with a sentence.

local core = require "resty.weir.core"
local ffi = require "ffi"
require "resty.weir.store" -- weir_store

ffi.cdef [[
void *dlopen(const char *path, int flags);
char *dlerror(void);

typedef struct weir_policy weir_policy;
typedef struct weir_runner weir_runner;
typedef struct weir_policy_options {
  size_t memory_bytes; int64_t instructions, deadline_us; size_t field_bytes; bool cut_fields; uint64_t reserved[4];
} weir_policy_options;
typedef struct weir_field {
  const char *name; const char *text; size_t text_size; double number; bool is_number;
} weir_field;
typedef struct weir_request {
  const weir_field *fields; size_t count; int64_t time_us; uint64_t reserved[2];
} weir_request;
typedef struct weir_verdict {
  bool refused; const char *reason; const weir_check *checks; const bool *shadow; size_t count; int64_t time_us;
  uint64_t reserved[2];
} weir_verdict;
typedef struct weir_outcome {
  bool allowed; const char *reason; weir_decision decision; const weir_limit *binding;
  const weir_check *checks; const weir_decision *rows; const bool *shadow; size_t count; uint64_t reserved[2];
} weir_outcome;
typedef struct weir_settlement {
  const int *verbs; const weir_check *checks; size_t count; int64_t time_us; uint64_t reserved[2];
} weir_settlement;

int weir_policy_open_text(weir_policy **, const char *name, const char *text, size_t, const weir_policy_options *,
                          weir_error *);
int weir_policy_reload_text(weir_policy *, const char *text, size_t, weir_error *);
size_t weir_policy_limits(const weir_policy *, const weir_limit *const **, const bool **shadow);
bool weir_policy_has_response(const weir_policy *);
void weir_policy_close(weir_policy *);
int weir_runner_open(weir_runner **, weir_policy *, weir_error *);
void weir_runner_close(weir_runner *);
int weir_runner_decide(weir_runner *, weir_store *, const weir_request *, weir_outcome *, weir_error *);
int weir_runner_respond(weir_runner *, weir_store *, const weir_request *, const weir_field *, size_t, bool allowed,
                        weir_error *);
int weir_runner_ask(weir_runner *, weir_store *, const weir_request *, weir_verdict *, weir_error *);
int weir_runner_settle(weir_runner *, weir_store *, const weir_request *, const weir_field *, size_t, bool allowed,
                       weir_settlement *, weir_error *);
]]

-- Of glibc; where there is no RTLD_DEEPBIND the library itself finds that it has the wrong Lua.
local RTLD_NOW, RTLD_DEEPBIND = 2, 8

-- Looked up now: a look-up between the two would take the reason from dlerror.
local dlopen, dlerror = ffi.C.dlopen, ffi.C.dlerror
local library

return function()
  if library then
    return library
  end
  local path = core.find "weir_policy"
  if dlopen(path, RTLD_NOW + RTLD_DEEPBIND) == nil then
    local reason = dlerror()
    return nil, reason ~= nil and ffi.string(reason) or path .. " can't be loaded", "WEIR_IO"
  end
  library = ffi.load(path) -- what dlopen has bound already
  return library
end
