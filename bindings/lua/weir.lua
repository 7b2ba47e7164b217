--- weir: limits, stores and policies for a program in Lua 5.4.
--
-- weir.token_bucket { name = "login", rate = "10/s", burst = 20 }   a limit, as a policy makes it; and leaky_bucket,
--                                 fixed_window, sliding_log, sliding_counter, min_gap, concurrency
-- limit(key[, cost or id])        a check, for take_all and take_many
-- weir.memory { size = "16MiB", side = "4MiB" or false, clock = function }   a store in this process; all optional
-- weir.policy { path = "chat.lua" }   a policy, and one instance of it; or { text = , name = "chat" }. Its bounds, all
--                                 optional: memory = "1MiB", instructions = 200000, deadline = "50ms",
--                                 field_size = "8KiB", and cut_fields = true to cut longer fields to that
-- weir.headers(limit, row)        what an HTTP answer tells of it; see below
-- weir.duration("1m30s")          90000000
-- weir.address(text[, bits])      an address cut to its network; nil and a sentence when it is none
--
-- A store takes a limit, a key (text or a whole number), a cost (1 unless said; for concurrency the id that holds
-- the place) and now_us (unless said, the store's clock):
--
-- store:take(limit, key, cost, now_us)   peek, refund, charge likewise; acquire, renew, release with an id: a row,
--                                 { allowed, limit, remaining, retry_after_us, reset_after_us, delay_us } by name
-- store:take_all({ check, ... }, now_us)    the joint row; `binding`, the place in the list of the check that binds;
--                                 and `rows`, one a check
-- store:take_many({ check, ... }, now_us)   a list of rows; one without an answer has `code` and `message` alone
-- store:reset(limit, key)         true
-- store:counters()                { keys, evicted, allowed, refused, size_bytes } by name
-- store:now_us()  store:close()
--
-- policy:decide(store, request)   the joint row, with `allowed`, `reason`, `binding` and `rows`; each row has also
--                                 `name`, `key` and `shadow`. A field of request is text or a number; `time`, in
--                                 microseconds, is the store's clock unless given
-- policy:respond(store, request, response, allowed)   true; runs the policy's response, then its refunds and charges
-- policy:reload([text])           true; the last good policy stays when the new one is wrong
-- policy:limits()  policy:has_response()  policy:close()
--
-- weir.headers(limit, row[, nil[, options]])    of what take, peek or acquire answered: { status, headers = { name =
--                                 value }, body, content_type }. The status is 200 to go on, 429 when refused
-- weir.headers({ limit or check, ... }, joint, joint.rows[, options])   of what take_all answered. A row with
--                                 shadow = true is not told
-- weir.headers({}, { allowed = false })   of a policy's own word, without a check
-- options.form                    "draft_08" (unless said), "draft_07", "draft_06", "x_seconds", "x_epoch" or "none"
-- options.body                    true: a refusal has a body too, problem details in JSON
-- options.units                   what limits count that do not count requests, by name: { upload = "content-bytes" }
-- options.partition_key           true: tell each key, as it is, to whoever reads the answer; needs checks
-- options.now_us                  for "x_epoch": the now of the decision, in Unix time
--
-- What the caller did wrong raises an error where it called. What the world did answers nil, a sentence and a code
-- such as "WEIR_FULL" or "WEIR_POLICY". A number must be whole and in range; nothing is rounded, clamped or read
-- from text. A handle is closed by `close`, by leaving the scope of a `<close>` variable, or by collection.

local core = require "weir.core"
local weir = require "weir.vocabulary" (core.host)

weir.headers = core.headers
weir.memory = core.memory
weir.policy = core.policy
weir.version = core.version

return weir
