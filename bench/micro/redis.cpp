// Commands to Redis and their replies, without a socket.
#include <memory>

#include "operation.hpp"
#include "samples.hpp"
#include "store/redis/exchange.hpp"
#include "store/redis/pipeline.hpp"
#include "store/redis/resp_reader.hpp"
#include "store/redis/resp_writer.hpp"

namespace idem::bench {
namespace {

using namespace store;
using namespace store::redis;

const std::string name = "idem:{q1w2e3r4t5y6u7i8o9p0q1w2e3r4t5y6u7i8o9p0q1w}";
const std::string own = "0001 0123456789abcdef0123456789abcdef";

/// A record's text for a store, which looks at nothing but its size.
std::string value_of(std::size_t body) { return "i1 S " + own + std::string(360 + body, 'x'); }

std::string bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

command sample(op what, std::string_view value) {
  command c;
  c.what = what;
  c.name = name;
  c.value = value;
  c.expect = own;
  c.ttl = c.hold = std::chrono::hours(24);
  c.lease = std::chrono::seconds(15);
  return c;
}

action write_command(op what, std::size_t body) {
  return [what, value = value_of(body), out = std::string()]() mutable {
    out.clear();
    exchange e(sample(what, value), dialect::scripts_and_set_get, "idem:");
    e.begin(out);
    keep(out);
  };
}

action read_replies(std::string bytes, int replies) {
  auto reader = std::make_shared<resp_reader>();
  return [reader, bytes = std::move(bytes), replies] {
    reader->feed(bytes);
    for (int i = 0; i < replies; ++i) {
      resp_value v;
      require(reader->next(v) == resp_reader::result::value);
      keep(v);
    }
  };
}

/// `commands` of one kind from submit to their completions: written, taken as one output, the replies read and matched.
action round_trip(op what, std::size_t body, std::string replies, std::size_t commands = 1) {
  struct state {
    pipeline p{"idem:"};
    resp_reader reader;
    std::string output;
  };
  auto s = std::make_shared<state>();
  s->p.open(dialect::scripts_and_set_get);
  return [s, what, value = value_of(body), replies = std::move(replies), commands] {
    for (std::size_t i = 0; i < commands; ++i)
      s->p.submit(sample(what, value), [](reply) {}, pipeline::time_point(std::chrono::milliseconds(250)));
    s->output.clear();
    s->p.take_output(s->output);
    s->reader.feed(replies);
    finished_commands ended;
    while (ended.empty()) {
      resp_value v;
      require(s->reader.next(v) == resp_reader::result::value && s->p.on_reply(std::move(v), ended));
    }
    require(ended.size() == commands && s->p.idle());
    keep(ended);
  };
}

const std::string claim_reply = "$-1\r\n";
const std::string complete_reply = "*3\r\n:0\r\n$0\r\n\r\n:86400000\r\n", done_reply = ":0\r\n";

const listed all[] = {
    {"redis/write_claim", [] { return write_command(op::claim, 0); }},
    {"redis/write_complete_150", [] { return write_command(op::complete, 150); }},
    {"redis/write_complete_16k", [] { return write_command(op::complete, 16384); }},
    {"redis/read_claim_first", [] { return read_replies(claim_reply, 1); }},
    {"redis/read_claim_found_150", [] { return read_replies(bulk(value_of(150)), 1); }},
    {"redis/read_claim_found_16k", [] { return read_replies(bulk(value_of(16384)), 1); }},
    {"redis/read_complete", [] { return read_replies(complete_reply, 1); }},
    {"redis/round_trip_claim", [] { return round_trip(op::claim, 0, claim_reply); }},
    {"redis/round_trip_complete_150", [] { return round_trip(op::complete, 150, complete_reply); }},
    {"redis/round_trip_complete_done_150", [] { return round_trip(op::complete, 150, done_reply); }},
    {"redis/round_trip_complete_8_150", [] { return round_trip(op::complete, 150, done_reply, 8); }},
};

}  // namespace
}  // namespace idem::bench
