-- A small Idempotency-Key implementation for nginx, as one would write it in an afternoon: claim the key with one
-- SET NX GET, forward, store the answer, replay it to whoever comes with the same key and the same request. It has no
-- owner of a claim, no renewal and no unknown outcome, so it does less than the proxy it is compared with.
local cjson = require "cjson.safe"

local M = {redis_port = 6379}

local CLAIM_MS, KEEP_MS = "60000", "86400000"
-- fields that belong to one connection, and the length, which is set anew
local NOT_KEPT = {["connection"] = true, ["keep-alive"] = true, ["transfer-encoding"] = true, ["content-length"] = true}

-- One command over a pooled connection. Returns the reply (false for nil), or nil and what went wrong.
local function redis(...)
  local words = {...}
  local out = {"*" .. #words}
  for _, word in ipairs(words) do
    out[#out + 1] = "$" .. #word
    out[#out + 1] = word
  end
  out[#out + 1] = ""

  local socket = ngx.socket.tcp()
  socket:settimeout(2000)
  local good, fault = socket:connect("127.0.0.1", M.redis_port)
  if not good then return nil, fault end
  good, fault = socket:send(table.concat(out, "\r\n"))
  if not good then return nil, fault end
  local line
  line, fault = socket:receive()
  if not line then return nil, fault end

  local kind, rest = line:sub(1, 1), line:sub(2)
  local reply
  if kind == "-" then
    return nil, rest
  elseif kind ~= "$" then
    reply = rest
  elseif rest == "-1" then
    reply = false
  else
    local bytes
    bytes, fault = socket:receive(tonumber(rest) + 2)
    if not bytes then return nil, fault end
    reply = bytes:sub(1, -3)
  end
  socket:setkeepalive(60000, 1024)
  return reply
end

local function answer(status, fields, body)
  ngx.status = status
  for name, value in pairs(fields) do ngx.header[name] = value end
  ngx.header["Content-Length"] = #body
  ngx.print(body)
end

local function refuse(status, code)
  answer(status, {["Content-Type"] = "application/json"}, '{"error":"' .. code .. '"}')
end

-- A record is "-" while the call runs, or "+", then 20 bytes that tell the request; a finished one goes on with the
-- length of its head in 8 digits, the head as JSON, and the body.
local function replay(record, request)
  if record:sub(2, 21) ~= request then return refuse(422, "other request") end
  if record:sub(1, 1) == "-" then return refuse(409, "in progress") end
  local size = tonumber(record:sub(22, 29))
  local head = cjson.decode(record:sub(30, 29 + size))
  head.fields["Idempotent-Replayed"] = "true"
  answer(head.status, head.fields, record:sub(30 + size))
end

function M.handle()
  ngx.req.read_body()
  local key = ngx.var.http_idempotency_key
  local request, name
  if key then
    request = ngx.sha1_bin("POST " .. ngx.var.request_uri .. "\n" .. (ngx.req.get_body_data() or ""))
    name = "once:" .. key
    local before, fault = redis("SET", name, "-" .. request, "NX", "GET", "PX", CLAIM_MS)
    if before == nil then
      ngx.log(ngx.ERR, "redis: ", fault)
      return refuse(503, "store")
    end
    if before then return replay(before, request) end
  end

  local got = ngx.location.capture("/application" .. ngx.var.uri, {method = ngx.HTTP_POST, args = ngx.var.args})
  local fields = {}
  for field, value in pairs(got.header) do
    if not NOT_KEPT[field:lower()] then fields[field] = value end
  end
  if key and got.status >= 500 then
    redis("DEL", name)
  elseif key then
    local head = cjson.encode({status = got.status, fields = fields})
    redis("SET", name, "+" .. request .. ("%08d"):format(#head) .. head .. got.body, "PX", KEEP_MS)
  end
  answer(got.status, fields, got.body)
end

return M
