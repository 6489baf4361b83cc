-- Sends the requests of a file in turn. The last line of the output is the result as JSON.
-- Every connection waits before its first request, until the server has accepted all of them.
local requests, at, waiting, wait_ms = {}, 0, 0, 0

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  for one in file:read('*a'):gmatch('[^%z]+') do
    requests[#requests + 1] = one
  end
  file:close()
  waiting, wait_ms = tonumber(args[2]), tonumber(args[3])
end

function delay()
  if waiting == 0 then
    return 0
  end
  waiting = waiting - 1
  return wait_ms
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local shape = '\n{"answers":%d,"refused":%d,"failed":%d,"bytes":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f}\n'
  io.write(shape:format(
    summary.requests,
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    summary.bytes,
    summary.duration / 1e6,
    latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3
  ))
end
