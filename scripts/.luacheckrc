-- luacheck --config scripts/.luacheckrc scripts spec/scripts c/bench
-- Scripts run inside Redis; specs under busted; the rest in Lua 5.1, LuaJIT and 5.4 alike.
std = "min"
max_line_length = 160

files["scripts/*.lua"] = { read_globals = { "redis", "KEYS", "ARGV" } }
files["scripts/wire"] = { read_globals = { "redis", "unpack", table = { fields = { "unpack" } } } }
files["scripts/bundle.lua"] = { std = "lua54" }
files["scripts/bundle"] = { std = "lua54" }
files["c/bench"] = { std = "lua54" }
files["c/bench/straight_line.lua"] = { std = "min", read_globals = { "redis", "KEYS", "ARGV" } }
files["spec"] = { std = "min+busted", read_globals = { "unpack", table = { fields = { "unpack" } } } }
files["spec/scripts/support/local_scripts.lua"] = { globals = { "_G" } }
