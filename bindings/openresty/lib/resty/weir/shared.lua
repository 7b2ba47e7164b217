--- shared: a store in memory that the workers of nginx share with each other, and with any other process of weir.
--
-- shared.open { name = "/api" }   a store. The options, of which either name or path is given:
--   name     of the mapping in POSIX shared memory: it outlives nginx, not the machine
--   path     of a file, which may outlive both
--   size     "16MiB" for a new one; for one that is there, what it has
--   side     of which for logs, slots and leases: a quarter
--   mode     of a new one: "0600"
--   owner, group    of a new one, as a name or a number: who opens it
--   misfit   "refuse" one of another size or version, or "rebuild" it: "refuse"
-- shared.remove { name = "/api" } or { path = }    true; who has it open keeps it
-- store:check()                   whether the table is sound: { keys, blocks, side_bytes, free_bytes, deaths, settled }
--
-- Open it in init_by_lua, and the workers inherit it; as root, say whose it is if others are to open it by name. In
-- init_by_lua neither name nor path is needed. Whatever fails answers nil, message, code.

local core = require "resty.weir.core"
local ffi = require "ffi"
local store = require "resty.weir.store"

ffi.cdef [[
typedef struct weir_shared_options {
  const char *name, *path; size_t size_bytes, side_bytes; bool no_side; int misfit;
  uint32_t mode; int64_t owner, group; uint64_t seed[2]; const void *clock; uint64_t reserved[4];
} weir_shared_options;
typedef struct weir_shared_report {
  uint64_t keys, blocks, side_bytes, free_bytes, deaths; bool settled; uint64_t reserved[4];
} weir_shared_report;
int weir_shared_open(weir_store **, const weir_shared_options *, weir_error *);
int weir_shared_remove(const char *name, const char *path, weir_error *);
int weir_shared_check(weir_store *, weir_shared_report *, weir_error *);

struct weir_user { char *name, *password; uint32_t uid; };
struct weir_group { char *name, *password; uint32_t gid; };
struct weir_user *weir_user_named(const char *) __asm__("getpwnam");
struct weir_group *weir_group_named(const char *) __asm__("getgrnam");
]]

local lib = core.lib
local SIZE_MAX = 2 ^ 50
local shifts = { KiB = 10, MiB = 20, GiB = 30 }
local misfits = { refuse = 0, rebuild = 1 }

local function text(value, field)
  if type(value) == "string" and value ~= "" and not value:find("\0", 1, true) then
    return value
  end
  return core.invalid(field, value, "text")
end

local function size(value, field)
  local bytes = value
  if type(value) == "string" then
    local count, unit = value:match "^(%d+)(%aiB)$"
    bytes = shifts[unit] and tonumber(count) * 2 ^ shifts[unit]
  end
  if type(bytes) == "number" and bytes % 1 == 0 and bytes >= 1 and bytes <= SIZE_MAX then
    return bytes
  end
  return core.invalid(field, value, 'a size such as "16MiB" (KiB, MiB, GiB) or bytes')
end

local function mode(value, field)
  if type(value) == "string" and value:find "^0?[0-7][0-7][0-7]$" then
    return tonumber(value, 8)
  end
  return core.invalid(field, value, 'octal text such as "0600"')
end

local function misfit(value, field)
  if misfits[value] then
    return misfits[value]
  end
  return core.invalid(field, value, '"refuse" or "rebuild"')
end

-- A name of the system, or its number.
local function id_of(find, member, wanted)
  return function(value, field)
    if type(value) == "number" then
      return core.whole(value, field, 2 ^ 32 - 1)
    end
    local found = type(value) == "string" and find(value)
    if not found or found == nil then
      return core.invalid(field, value, wanted)
    end
    return found[member]
  end
end

local readers = {
  { "name", text, "name" },
  { "path", text, "path" },
  { "size", size, "size_bytes" },
  { "side", size, "side_bytes" },
  { "mode", mode, "mode" },
  { "owner", id_of(ffi.C.weir_user_named, "uid", "a user of this system"), "owner" },
  { "group", id_of(ffi.C.weir_group_named, "gid", "a group of this system"), "group" },
  { "misfit", misfit, "misfit" },
}

local known = {}
local names = {}
for place, reader in ipairs(readers) do
  known[reader[1]], names[place] = true, reader[1]
end
names = table.concat(names, ", ")

-- The options in C, which point to texts of `given`.
local function read(given)
  if type(given) ~= "table" then
    return core.invalid("options", given, 'a table such as { name = "/api" }')
  end
  for field in pairs(given) do
    if not known[field] then
      return nil, ("%s is no option; the options are %s"):format(tostring(field), names), "WEIR_INVALID"
    end
  end
  local options = ffi.new "weir_shared_options"
  for _, reader in ipairs(readers) do
    local field, reads, member = reader[1], reader[2], reader[3]
    if given[field] ~= nil then
      local value, message, code = reads(given[field], field)
      if not value then
        return nil, message, code
      end
      options[member] = value
    end
  end
  return options
end

local function is_inherited()
  return not ngx or ngx.get_phase() == "init"
end

local report = ffi.new "weir_shared_report"

local function check(self)
  local status = lib.weir_shared_check(self.c, report, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return {
    keys = tonumber(report.keys),
    blocks = tonumber(report.blocks),
    side_bytes = tonumber(report.side_bytes),
    free_bytes = tonumber(report.free_bytes),
    deaths = tonumber(report.deaths),
    settled = report.settled,
  }
end

local shared = {}

function shared.open(given)
  local options, message, code = read(given)
  if not options then
    return nil, message, code
  end
  if not given.name and not given.path and not is_inherited() then
    return nil, "name is missing, and path; only a store that init_by_lua opens may be without", "WEIR_INVALID"
  end
  local out = ffi.new "weir_store *[1]"
  local status = lib.weir_shared_open(out, options, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  local opened = store.wrap(out[0])
  opened.check = check
  return opened
end

function shared.remove(given)
  local options, message, code = read(given)
  if not options then
    return nil, message, code
  end
  local status = lib.weir_shared_remove(options.name, options.path, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return true
end

return shared
