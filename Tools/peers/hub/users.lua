-- wrk: one send to one of USERS users, in turn. AUTHORIZATION, FORMAT and USERS are in the environment.
local users = tonumber(os.getenv("USERS"))
local headers = {
  ["Authorization"] = os.getenv("AUTHORIZATION"),
  ["Content-Type"] = "application/json;charset=utf-8",
  ["ServiceBusNotification-Format"] = os.getenv("FORMAT"),
}
if os.getenv("FORMAT") == "apple" then
  headers["apns-push-type"] = "alert"
  headers["apns-priority"] = "10"
else
  headers["TTL"] = "3600"
  headers["Urgency"] = "high"
end
local body = '{"aps":{"alert":{"title":"A message","body":"You have a new message."},"mutable-content":1},' ..
  '"secureId":"01234567-89ab-cdef-0123-456789abcdef","sig":"' .. string.rep("s", 86) .. '"}'
-- 7919 is prime, so that neighbours in time are not neighbours in the table.
local n = 0
request = function()
  n = (n + 7919) % users
  headers["ServiceBusNotification-Tags"] = "username:user" .. n
  return wrk.format("POST", nil, headers, body)
end
local wrong = 0
response = function(status) if status ~= 201 then wrong = wrong + 1 end end
