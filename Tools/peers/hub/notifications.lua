-- wrk: one notification to one of USERS users, in turn. INGEST_AUTHORIZATION is in the environment.
local users = tonumber(os.getenv("USERS"))
local headers = {["Authorization"] = os.getenv("INGEST_AUTHORIZATION"), ["Content-Type"] = "application/json"}
local payload = string.rep("p", 1024)
local n = 0
request = function()
  n = (n + 7919) % users
  return wrk.format("POST", nil, headers, '{"recipient":"user' .. n .. '","payload":"' .. payload .. '"}')
end
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("ACCEPTED %d\n", summary.requests - errors.status - errors.read - errors.timeout))
end
