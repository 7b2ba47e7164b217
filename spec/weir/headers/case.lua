--- case: one call of headers, told as data, so that it is the same in every Lua.
--
-- case.limits      { algorithm = "min_gap", options = { name = "gap", gap = "1s" }[, key] }, ...
-- case.one         the first limit is given by itself, not in a list
-- case.instead     what is given in place of limits
-- case.decision, case.rows, case.options

return function(words, of, case)
  local limits = {}
  for i, limit in ipairs(case.limits) do
    limits[i] = words[limit.algorithm](limit.options)
    if limit.key then
      limits[i] = limits[i](limit.key)
    end
  end
  return of(case.instead or case.one and limits[1] or limits, case.decision, case.rows, case.options)
end
