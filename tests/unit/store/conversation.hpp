// Replies by hand and a reader of what was sent, for the tests of exchanges.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/redis/exchange.hpp"

namespace idem::store::redis::test {

inline resp_value status(std::string text) { return {resp_type::status, std::move(text), 0, {}}; }
inline resp_value error(std::string text) { return {resp_type::error, std::move(text), 0, {}}; }
inline resp_value text(std::string t) { return {resp_type::text, std::move(t), 0, {}}; }
inline resp_value number(std::int64_t n) { return {resp_type::integer, {}, n, {}}; }
inline resp_value nil() { return {}; }
inline resp_value array(std::vector<resp_value> items) { return {resp_type::array, {}, 0, std::move(items)}; }

/// Each command in `out` as its words joined by spaces; clears `out`.
inline std::vector<std::string> sent(std::string& out) {
  resp_reader reader;
  reader.feed(out);
  out.clear();
  std::vector<std::string> commands;
  resp_value v;
  while (reader.next(v) == resp_reader::result::value) {
    std::string line;
    for (const auto& word : v.items) line += (line.empty() ? "" : " ") + word.text;
    commands.push_back(std::move(line));
  }
  return commands;
}

/// Hands replies to an exchange; the last must end it.
template <class Exchange>
step play(Exchange& e, std::string& out, std::vector<resp_value> replies) {
  step s;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    s = e.on_reply(std::move(replies[i]), out);
    if (i + 1 < replies.size()) {
      EXPECT_EQ(s.what, step::kind::more) << "reply " << i;
    }
  }
  return s;
}

}  // namespace idem::store::redis::test
