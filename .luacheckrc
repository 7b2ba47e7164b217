-- One line of 120 columns; what runs on every Lua keeps to what they share.
std = "lua54"
max_line_length = 120
codes = true

files["lua"] = { std = "min" }
files["scripts"] = { std = "min", read_globals = { "redis", "KEYS", "ARGV" } }
files["bindings/openresty"] = { std = "luajit", read_globals = { "ngx" } }
files["spec"] = { std = "lua54+busted" }

exclude_files = { "spec/attacks", "build*" }
