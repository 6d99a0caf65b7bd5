-- What wrk sends: load.lua WORKLOAD PATH BODY_FILE PREFIX [FIRST LAST]
--
--   first    POST with a key that was never used: PREFIX-THREAD-1, PREFIX-THREAD-2, ...
--   replay   POST with one of the keys PREFIX-0-FIRST to PREFIX-0-LAST, at random
--   pass     GET
local threads = 0
function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

local before, after, key
function init(args)
  local workload, path, prefix = args[1], args[2], args[4]
  if workload == "pass" then
    before = "GET " .. path .. " HTTP/1.1\r\nHost: shop.example\r\nAccept: application/json\r\n\r\n"
    function request() return before end
    return
  end
  local body = assert(io.open(args[3])):read("*a")
  before = "POST " .. path .. " HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\nContent-Length: " .. #body ..
           "\r\nIdempotency-Key: " .. prefix .. "-"
  after = "\r\n\r\n" .. body
  if workload == "first" then
    before = before .. number .. "-"
    key = 0
    function request()
      key = key + 1
      return before .. key .. after
    end
  else
    local random, first, last = math.random, tonumber(args[5]), tonumber(args[6])
    before = before .. "0-"
    function request() return before .. random(first, last) .. after end
  end
end

function done(summary, latency)
  local e = summary.errors
  io.write(('\nRESULT {"requests":%d,"microseconds":%d,"bytes":%d,"p50":%d,"p99":%d,"statuses":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}\n'):format(
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99), e.status, e.connect, e.read,
    e.write, e.timeout))
end
