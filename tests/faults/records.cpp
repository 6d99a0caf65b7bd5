#include "faults/records.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "support/redis_client.hpp"

namespace idem::test {
namespace {

// In one step, so that no look falls between two transitions of one record. Names, bytes and times to live in turn;
// bytes 0 to ARGV[1].
constexpr std::string_view read_all =
    "local out = {} "
    "for _, name in ipairs(redis.call('KEYS', 'idem:*')) do "
    "  out[#out + 1] = name "
    "  out[#out + 1] = redis.call('GETRANGE', name, 0, ARGV[1]) "
    "  out[#out + 1] = redis.call('PTTL', name) "
    "end return out";

constexpr std::string_view prefix_end = "41", text_end = "-1";

redis_value look(redis_client& redis, std::string_view last_byte) {
  return redis.command({"EVAL", std::string(read_all), "0", std::string(last_byte)});
}

enum column { state = 1, hold = 5, status = 11, header_bytes = 12, encoding = 14, columns = 16 };

plain_answer answer_in(std::string_view text, int code, std::size_t header) {
  plain_answer a{code, {}, {}, std::string(text.substr(header))};
  auto block = text.substr(0, header);
  for (bool first = true; !block.empty(); first = false) {
    const auto end = block.find("\r\n");
    const auto line = block.substr(0, end);
    block.remove_prefix(end == std::string_view::npos ? block.size() : end + 2);
    const auto colon = line.find(": ");
    if (first)
      a.reason = line;
    else
      a.lines.emplace_back(line.substr(0, colon), line.substr(std::min(line.size(), colon + 2)));
  }
  return a;
}

}  // namespace

stored_record read_record(std::string name, std::string_view text, std::int64_t ttl_ms) {
  stored_record r;
  r.name = std::move(name);
  r.ttl_ms = ttl_ms;
  const auto end = text.find('\n');
  std::vector<std::string> fields{{}};
  for (const char c : text.substr(0, end)) {
    if (c == ' ')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  if (end == std::string_view::npos || fields.size() != columns || fields[0] != "i1") return r;
  r.state = fields[state].at(0);
  r.hold_ms = std::strtoll(fields[hold].c_str(), nullptr, 10);
  if (fields[encoding] == "p")
    r.answer = answer_in(text.substr(end + 1), std::atoi(fields[status].c_str()),
                         std::strtoull(fields[header_bytes].c_str(), nullptr, 10));
  return r;
}

std::vector<stored_record> read_records(std::uint16_t redis_port) {
  redis_client redis(redis_port);
  const auto all = look(redis, text_end);
  if (all.type != '*') throw std::runtime_error("the records cannot be read: " + all.text);
  std::vector<stored_record> records;
  for (std::size_t i = 0; i + 2 < all.items.size(); i += 3)
    records.push_back(read_record(all.items[i].text, all.items[i + 1].text, all.items[i + 2].integer));
  return records;
}

watcher::watcher(std::uint16_t redis_port, recorder& into)
    : into_(into), thread_([this, redis_port] { watch(redis_port); }) {}

watcher::~watcher() {
  ended_ = true;
  thread_.join();
}

void watcher::watch(std::uint16_t redis_port) {
  auto redis = std::make_unique<redis_client>(redis_port);
  for (; !ended_; std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
    const auto all = look(*redis, prefix_end);
    if (all.type != '*') {
      redis = std::make_unique<redis_client>(redis_port);
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    std::map<std::string, std::string> seen;
    for (std::size_t i = 0; i + 2 < all.items.size(); i += 3) {
      if (all.items[i + 1].text.starts_with("i1 ")) seen[all.items[i].text] = all.items[i + 1].text;
    }
    for (const auto& [name, prefix] : seen)
      if (last_[name] != prefix) into_.add(sighting{now, name, last_[name] = prefix});
    for (auto& [name, prefix] : last_) {
      if (prefix.empty() || seen.contains(name)) continue;
      prefix.clear();
      into_.add(sighting{now, name, {}});
    }
  }
}

}  // namespace idem::test
