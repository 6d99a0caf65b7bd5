#include <gtest/gtest.h>

#include "store/redis/resp_reader.hpp"
#include "store/redis/resp_writer.hpp"

namespace idem::store::redis {
namespace {

using namespace std::string_literals;
using result = resp_reader::result;

resp_value read_one(std::string_view bytes) {
  resp_reader reader;
  reader.feed(bytes);
  resp_value v;
  EXPECT_EQ(reader.next(v), result::value) << bytes;
  return v;
}

result read_result(std::string_view bytes) {
  resp_reader reader;
  reader.feed(bytes);
  resp_value v;
  return reader.next(v);
}

TEST(resp_writer, writes_commands_as_arrays_of_counted_bytes) {
  std::string out = "before";
  append_command(out, {"SET", std::string_view("a\r\n\0b", 5), "", decimal(-12)});
  EXPECT_EQ(out, "before*4\r\n$3\r\nSET\r\n$5\r\na\r\n\0b\r\n$0\r\n\r\n$3\r\n-12\r\n"s);
}

TEST(resp_reader, reads_every_kind_of_reply) {
  EXPECT_EQ(read_one("+OK\r\n").type, resp_type::status);
  EXPECT_EQ(read_one("-ERR no\r\n").text, "ERR no");
  EXPECT_EQ(read_one("-ERR no\r\n").type, resp_type::error);
  EXPECT_EQ(read_one(":-2\r\n").integer, -2);
  EXPECT_EQ(read_one("$-1\r\n").type, resp_type::nil);
  EXPECT_EQ(read_one("*-1\r\n").type, resp_type::nil);
  EXPECT_EQ(read_one("$0\r\n\r\n").type, resp_type::text);
  EXPECT_EQ(read_one(std::string("$4\r\n\r\n\0x\r\n", 10)).text, std::string("\r\n\0x", 4));
  const auto v = read_one("*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n");
  ASSERT_EQ(v.items.size(), 3u);
  EXPECT_EQ(v.items[1].items[0].text, "a");
  EXPECT_EQ(v.items[1].items[1].type, resp_type::nil);
  EXPECT_EQ(v.items[2].text, "x");
}

TEST(resp_reader, reads_replies_that_come_byte_by_byte) {
  const std::string bytes = "*2\r\n$5\r\nhello\r\n:7\r\n$3\r\nabc\r\n";
  resp_reader reader;
  std::vector<resp_value> all;
  for (const char c : bytes) {
    reader.feed({&c, 1});
    resp_value v;
    while (reader.next(v) == result::value) all.push_back(std::move(v));
  }
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].items[0].text, "hello");
  EXPECT_EQ(all[0].items[1].integer, 7);
  EXPECT_EQ(all[1].text, "abc");
}

TEST(resp_reader, refuses_a_bulk_string_without_a_line_end_behind_it) {
  EXPECT_EQ(read_result("$5\r\nhelloXX"), result::broken);
  EXPECT_EQ(read_result("$5\r\nhello\n\r"), result::broken);
  EXPECT_EQ(read_result("*2\r\n:1\r\n$2\r\nabc\r\n"), result::broken);
}

TEST(resp_reader, refuses_what_is_not_redis) {
  for (const auto* bytes : {"HTTP/1.1 400 Bad Request\r\n\r\n", "hello\r\n", "$abc\r\nx", "$-7\r\n", "*-2\r\n",
                            ":12a\r\n", "$99999999999999999999\r\n"})
    EXPECT_EQ(read_result(bytes), result::broken) << bytes;
}

TEST(resp_reader, stays_broken) {
  resp_reader reader;
  reader.feed("HTTP\r\n");
  resp_value v;
  EXPECT_EQ(reader.next(v), result::broken);
  reader.feed("+OK\r\n");
  EXPECT_EQ(reader.next(v), result::broken);
}

TEST(resp_reader, bounds_the_items_of_an_array) {
  EXPECT_EQ(read_result("*" + std::to_string(resp_reader::max_items) + "\r\n"), result::need_more);
  EXPECT_EQ(read_result("*" + std::to_string(resp_reader::max_items + 1) + "\r\n"), result::broken);
  EXPECT_EQ(read_result("*2000000000\r\n"), result::broken);
}

TEST(resp_reader, bounds_a_line) {
  resp_reader reader;
  resp_value v;
  reader.feed("+" + std::string(resp_reader::max_line - 10, 'x'));
  EXPECT_EQ(reader.next(v), result::need_more);
  reader.feed(std::string(20, 'x'));
  EXPECT_EQ(reader.next(v), result::broken);
}

TEST(resp_reader, bounds_a_value) {
  resp_reader reader;
  resp_value v;
  reader.feed("$" + std::to_string(resp_reader::max_value + 1000) + "\r\n");
  const std::string piece(1024 * 1024, 'x');
  auto r = result::need_more;
  std::size_t fed = 0;
  while (r == result::need_more && fed < resp_reader::max_value * 2) {
    reader.feed(piece);
    fed += piece.size();
    r = reader.next(v);
  }
  EXPECT_EQ(r, result::broken);
  EXPECT_LE(fed, resp_reader::max_value + 2 * piece.size());
}

}  // namespace
}  // namespace idem::store::redis
