--- algorithms: one limit of each algorithm that lets `most` pass at one instant, for what holds of all of them.
--
-- Windows, gaps and leases last a minute, and a bucket fills in one.

local weir = require "weir"

local algorithms = {}

local makers = {
  token_bucket = function(name, most)
    return weir.token_bucket { name = name, rate = math.max(most, 1), period = "1m", burst = most }
  end,
  leaky_bucket = function(name, most)
    return weir.leaky_bucket { name = name, rate = most, period = "1m", queue = most - 1 }
  end,
  fixed_window = function(name, most)
    return weir.fixed_window { name = name, limit = most, window = "1m" }
  end,
  sliding_log = function(name, most)
    return weir.sliding_log { name = name, limit = most, window = "1m" }
  end,
  sliding_counter = function(name, most)
    return weir.sliding_counter { name = name, limit = most, window = "1m" }
  end,
  ["sliding_counter with slots"] = function(name, most)
    return weir.sliding_counter { name = name .. " slots", limit = most, window = "1m", slots = 6 }
  end,
  ["sliding_counter that is strict"] = function(name, most)
    return weir.sliding_counter { name = name .. " strict", limit = most, window = "1m", slots = 6, strict = true }
  end,
}

--- Pairs of a title and a limit, of all that count costs; `without` is the title of one to leave out.
function algorithms.that_count(name, most, without)
  local made = {}
  for title, make in pairs(makers) do
    if title ~= without then
      made[title] = make(name, most)
    end
  end
  return pairs(made)
end

function algorithms.min_gap(name)
  return weir.min_gap { name = name, gap = "1m" }
end

function algorithms.concurrency(name, most)
  return weir.concurrency { name = name, limit = most, ttl = "1m" }
end

return algorithms
