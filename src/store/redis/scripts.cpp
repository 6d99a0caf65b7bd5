#include "store/redis/scripts.hpp"

#include <openssl/evp.h>

#include <array>

#include "idem/text/hex.hpp"

namespace idem::store::redis {
namespace {

// Errors are returned, not raised: a raised one comes in other words on each server version, with its code inside.
// GETRANGE reads the 42 bytes that decide without copying a body of up to megabytes. A replica answers reads, and what
// it says is old: where nothing is to be written, a write that cannot change anything (NX and XX exclude each other)
// makes it say so.
constexpr std::string_view prologue = R"lua(
local key, expect, value, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local channel, limit, blind = ARGV[4] or '', tonumber(ARGV[5] or '0'), ARGV[6]
local prefix = redis.pcall('GETRANGE', key, '0', '41')
local foreign = type(prefix) == 'table'
if foreign then
  if not string.find(prefix['err'] or '', 'WRONGTYPE', 1, true) then return prefix end
  prefix = ''
end
local absent = prefix == '' and redis.call('EXISTS', key) == 0
local state = string.sub(prefix, 4, 4)
local ours = string.sub(prefix, 1, 3) == 'i1 '
local same = ours and #expect == 42 and prefix == expect
local own = ours and string.sub(prefix, 6) == expect
local function answer(code)
  local w = redis.pcall('SET', key, '', 'NX', 'XX')
  if type(w) == 'table' and w['err'] and string.find(w['err'], 'READONLY', 1, true) then return w end
  if absent then return {code, '', -2} end
  return {code, not foreign and not blind and redis.call('GET', key) or '', redis.call('PTTL', key)}
end
local function write(code, ...)
  local r = redis.pcall(...)
  if type(r) == 'table' and r['err'] then return r end
  if channel ~= '' then redis.pcall('PUBLISH', channel, key) end
  return {code, '', tonumber(ttl)}
end
local function put(code) return write(code, 'SET', key, value, 'PX', ttl) end
local function young(ms) return ms < 0 or ms > limit end
)lua";

constexpr std::string_view look = R"lua(
if absent then return answer(5) end
return answer(4)
)lua";

constexpr std::string_view renew = R"lua(
if absent then return put(1) end
if own and state == 'P' then return write(0, 'PEXPIRE', key, ttl) end
return answer(3)
)lua";

// Nearly every completion finds its own P, and nobody waits: then this comes before all the rest, and answers with the
// code alone. It takes Redis two thirds of the time that the rest takes.
constexpr std::string_view complete_at_once = R"lua(
if not ARGV[4] and redis.pcall('GETRANGE', KEYS[1], '0', '41') == 'i1 P ' .. ARGV[1] then
  local r = redis.pcall('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return type(r) == 'table' and r['err'] and r or 0
end
)lua";

constexpr std::string_view complete = R"lua(
if absent then return put(1) end
if own and (state == 'P' or state == 'U' or state == 'R') then return put(0) end
if own and (state == 'S' or state == 'F' or state == 'X') then return answer(2) end
return answer(3)
)lua";

// The same for several. Globals cost more than locals, hence their names once more. What is not the usual case is
// decided by the text of `complete`, which stands between the two parts.
constexpr std::string_view completions_begin = R"lua(
local KEYS, ARGV, call = KEYS, ARGV, redis.pcall
local left, at = nil, 1
for i = 1, #KEYS do
  local key, done = KEYS[i], false
  if call('GETRANGE', key, '0', '41') == ARGV[at] then
    local r = call('SET', key, ARGV[at + 1], 'PX', ARGV[at + 2])
    done = type(r) ~= 'table' or not r['err']
  end
  if not done then
    local function alone(KEYS, ARGV)
)lua";
constexpr std::string_view completions_end = R"lua(
    end
    left = left or {}
    left[#left + 1] = i
    left[#left + 1] = alone({key}, {string.sub(ARGV[at], 6), ARGV[at + 1], ARGV[at + 2]})
  end
  at = at + 3
end
return left or 0
)lua";

constexpr std::string_view release = R"lua(
if own and state == 'P' then
  if limit == 1 then return write(0, 'DEL', key) end
  return put(0)
end
return answer(3)
)lua";

constexpr std::string_view declare = R"lua(
if absent then return put(1) end
if own and (state == 'P' or state == 'R' or (state == 'X' and limit == 1)) then return put(0) end
return answer(3)
)lua";

constexpr std::string_view take_over = R"lua(
if not same or (state ~= 'P' and state ~= 'U') or young(redis.call('PTTL', key)) then return answer(3) end
return put(0)
)lua";

// SETRANGE comes first: it alone can be refused, and then nothing is written.
constexpr std::string_view revoke = R"lua(
if not same or state ~= 'P' then return answer(3) end
local r = redis.pcall('SETRANGE', key, 3, 'R')
if type(r) == 'table' and r['err'] then return r end
return write(0, 'PEXPIRE', key, ttl)
)lua";

constexpr std::string_view resolve = R"lua(
if not same or state ~= 'U' then return answer(3) end
if value ~= '' then return put(0) end
if young(redis.call('PTTL', key)) then return answer(3) end
return write(0, 'DEL', key)
)lua";

std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::string hex(2 * std::size_t{size}, '\0');
  text::write_hex(hex.data(), digest.data(), size);
  return hex;
}

script named(std::string text) {
  std::string sha1 = sha1_hex(text);
  return {std::move(text), std::move(sha1)};
}

script make(std::string_view body, std::string_view first = {}) {
  return named(std::string(first).append(prologue).append(body));
}

}  // namespace

const script& script_of(op what) {
  static const std::array<script, 9> all{
      script{},        make(look),   make(renew),  make(complete, complete_at_once), make(release), make(declare),
      make(take_over), make(revoke), make(resolve)};
  return all[static_cast<std::size_t>(what)];
}

const script& completions_script() {
  static const script s =
      named(std::string(completions_begin).append(prologue).append(complete).append(completions_end));
  return s;
}

std::string_view probe_script() {
  // What is tried is the doing, not the syntax: a server that wrote in spite of NX would overwrite records.
  // Commands that the user may not run are denied inside of a script as well, in words that differ from version to
  // version: then the script ends as they do.
  return R"lua(
local key, denied = KEYS[1], nil
local function try(...)
  local r = redis.pcall(...)
  local err = type(r) == 'table' and r['err'] or ''
  local plain = string.find(err, 'ERR', 1, true) == 1 or string.find(err, 'NOPERM', 1, true)
  if plain and not string.find(err, 'syntax error', 1, true) then denied = r end
  return r, err
end
local none, err = try('SET', key, '', 'NX', 'XX')
if string.find(err, 'READONLY', 1, true) then return none end
local absent = try('SET', key, 'a', 'NX', 'GET', 'PX', '1000')
local found = try('SET', key, 'b', 'NX', 'GET', 'PX', '100000')
local kept, left = try('GET', key), try('PTTL', key)
try('EXISTS', key)
try('GETRANGE', key, '0', '41')
try('PEXPIRE', key, '1000')
try('DEL', key)
if denied then return denied end
local timed = type(left) == 'number' and left > 0 and left <= 1000
return absent == false and found == 'a' and kept == 'a' and timed and 2 or 1
)lua";
}

}  // namespace idem::store::redis
