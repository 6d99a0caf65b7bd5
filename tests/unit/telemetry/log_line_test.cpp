#include "telemetry/log_line.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace idem::telemetry {
namespace {

using config::log_format;
using config::log_level;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

template <class Entry>
std::string line_of(const Entry& e, log_format format) {
  std::string out;
  append_line(out, e, format);
  return out;
}

event_entry sample_event() {
  event_entry e(log_level::warn, "store lost", {{"address", "10.0.0.1:6379"}, {"tries", 3}, {"up", false}, {"s", 0.5}});
  e.at = std::chrono::system_clock::time_point(seconds(1700000000) + milliseconds(7));
  return e;
}

access_entry sample_access() {
  access_entry e;
  e.at = std::chrono::system_clock::time_point(seconds(1700000000) + milliseconds(999) + microseconds(999));
  e.method = "POST";
  e.route = "charges";
  e.key_hash = "q1w2";
  e.client = "10.1.2.3";
  e.what = decision::replayed;
  e.status = 201;
  e.attempt = 2;
  e.bytes_in = 10;
  e.bytes_out = 20;
  e.total = microseconds(12345);
  e.upstream = microseconds(5);
  e.store = microseconds(2000);
  return e;
}

TEST(log_line, an_event_is_one_json_object) {
  EXPECT_EQ(line_of(sample_event(), log_format::json),
            R"({"ts":"2023-11-14T22:13:20.007Z","level":"warn","event":"store lost","address":"10.0.0.1:6379",)"
            R"("tries":3,"up":false,"s":0.5})");
}

TEST(log_line, an_event_as_text_quotes_what_could_be_misread) {
  EXPECT_EQ(line_of(sample_event(), log_format::text),
            "2023-11-14T22:13:20.007Z warn store lost address=10.0.0.1:6379 tries=3 up=false s=0.5");
  const event_entry e(log_level::info, "a\nb", {{"x", "two words"}, {"y", ""}, {"z", "a=b"}, {"w", "l\nf"}});
  const auto text = line_of(e, log_format::text);
  EXPECT_EQ(text.substr(25), R"(info a\nb x="two words" y="" z="a=b" w="l\nf")");
}

TEST(log_line, a_request_shows_its_members) {
  EXPECT_EQ(line_of(sample_access(), log_format::json),
            R"({"ts":"2023-11-14T22:13:20.999Z","level":"info","event":"request","method":"POST","route":"charges",)"
            R"("decision":"replayed","status":201,"key_hash":"q1w2","attempt":2,"client":"10.1.2.3","bytes_in":10,)"
            R"("bytes_out":20,"total_ms":12.345,"upstream_ms":0.005,"store_ms":2.000})");
}

TEST(log_line, a_request_without_a_route_shows_its_path_and_a_fault_only_if_there_is_one) {
  auto e = sample_access();
  e.route.clear();
  e.key_hash.clear();
  e.attempt = 0;
  e.path = "/a\xff\"b";
  e.fault = "client/aborted";
  const auto parsed = boost::json::parse(line_of(e, log_format::json)).as_object();
  EXPECT_EQ(parsed.at("path"), "/a\xef\xbf\xbd\"b");
  EXPECT_EQ(parsed.at("fault"), "client/aborted");
  for (auto name : {"route", "key_hash", "attempt"}) EXPECT_FALSE(parsed.contains(name)) << name;
}

TEST(log_line, a_request_that_was_refused_as_malformed_shows_why) {
  auto e = sample_access();
  e.what = decision::malformed;
  EXPECT_FALSE(boost::json::parse(line_of(e, log_format::json)).as_object().contains("reason"));
  e.reason = "the head is too large";
  EXPECT_EQ(boost::json::parse(line_of(e, log_format::json)).at("reason"), "the head is too large");
}

TEST(log_line, times_before_1970_and_negative_durations_do_no_harm) {
  auto e = sample_access();
  e.at = std::chrono::system_clock::time_point(milliseconds(-1));
  e.total = microseconds(-5);
  const auto parsed = boost::json::parse(line_of(e, log_format::json)).as_object();
  EXPECT_EQ(parsed.at("ts"), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(parsed.at("total_ms").as_double(), 0.0);
}

}  // namespace
}  // namespace idem::telemetry
