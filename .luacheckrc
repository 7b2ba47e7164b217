-- One line of 120 columns; what runs on every Lua keeps to what they share.
std = "lua54"
max_line_length = 120
codes = true

files["lua"] = { std = "min" }
files["scripts"] = { std = "min", read_globals = { "redis", "KEYS", "ARGV" } }
files["bindings/openresty"] = { std = "luajit", globals = { "ngx" } }
files["spec"] = { std = "lua54+busted" }

-- The specs run on Lua 5.4, what they give to nginx on LuaJIT.
files["spec/openresty"] = { std = "max+busted", globals = { "ngx" } }

exclude_files = { "spec/attacks", "build*" }
