// Callbacks that are malformed, and answers that are no success: neither may use up the key of the well-formed push
// that follows, nor get that one's answer unless it carries the same id (docs/routes.md, "Keys" and "Callbacks").
#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

const std::string json = "application/json", form = "application/x-www-form-urlencoded", xml = "text/xml";
const std::string padding(256, 'k');  ///< one byte more than a key may have

/// What becomes of a malformed push.
enum class fate {
  refused,    ///< 400, and nothing is executed
  untouched,  ///< it has no key: it reaches the application each time
  keyed       ///< it has the id all the same: the application refuses it, and so releases the key
};

/// `@` stands for the event's id.
struct push {
  std::string body, type;  ///< without Content-Type if the type is empty
  field_lines fields;

  http_request to(const std::string& preset, const std::string& id) const {
    http_request q;
    q.target = "/" + preset;
    q.body = filled(body, id);
    if (!type.empty()) q.with("Content-Type", type);
    for (const auto& [name, value] : fields) q.with(name, filled(value, id));
    return q;
  }

 private:
  static std::string filled(std::string text, const std::string& id) {
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + id.size()))
      text.replace(at, 1, id);
    return text;
  }
};

struct flaw {
  fate meets;
  push what;
};

struct answer {
  int status;
  std::string body;
};

struct sender {
  std::string preset;
  push good;
  std::vector<flaw> flaws;
  answer success;
  std::vector<answer> failures;  ///< besides those that no preset takes for success
};

void add(std::vector<flaw>& to, fate meets, const std::vector<std::string>& bodies, const std::string& type) {
  for (const auto& body : bodies) to.push_back({meets, {body, type, {}}});
}

void add_types(std::vector<flaw>& to, fate meets, const push& good, const std::vector<std::string>& types) {
  for (const auto& type : types) to.push_back({meets, {good.body, type, good.fields}});
}

sender of_json(const std::string& preset, const std::string& member, answer success, std::vector<answer> failures) {
  const std::string m = "\"" + member + "\":", id = m + "\"@\"";
  const std::string escaped = member == "id" ? "\"\\u0069d\":" : "\"\\u0065vent_id\":";
  sender s{preset, {"{\"n\":1," + id + "}", json, {}}, {}, std::move(success), std::move(failures)};
  add(s.flaws, fate::untouched,
      {"{" + id, "{" + id + ",}", "{" + id + "}}", "{" + id + "}{" + id + "}", "{" + id + ",\"n\":NaN}", "{'id':'@'}",
       "", member + "=@", "{" + id + "," + id},
      json);
  add(s.flaws, fate::untouched,
      {"{\"n\":1}", "{" + m + "null}", "{" + m + "\"\"}", "{" + m + "{\"v\":\"@\"}}", "{" + m + "[\"@\"]}",
       "{\"data\":{" + id + "}}", "[{" + id + "}]", "\"@\""},
      json);
  add(s.flaws, fate::refused,
      {"{" + id + "," + id + "}", "{" + id + ",\"n\":1," + m + "\"other\"}", "{" + m + "\"other\"," + id + "}",
       "{" + m + "null," + id + "}", "{" + id + "," + m + "{}}", "{" + id + "," + escaped + "\"@\"}",
       "{" + m + "\"@" + padding + "\"}"},
      json);
  add_types(s.flaws, fate::keyed, s.good, {"text/plain", form, xml, "nonsense", ""});
  return s;
}

/// @param other a second field that the key needs, with `&` before it; may be empty
sender of_form(const std::string& preset, const std::string& name, const std::string& other, answer success,
               std::vector<answer> failures) {
  const std::string encoded = name.front() == 'n' ? "%6e" + name.substr(1) : "%4d" + name.substr(1);
  sender s{preset, {"n=1&" + name + "=@" + other, form, {}}, {}, std::move(success), std::move(failures)};
  add(s.flaws, fate::untouched,
      {"", "n=1" + other, name + "=" + other, name + other, "%zz" + name + "=@" + other, "x" + name + "=@" + other,
       "{\"" + name + "\":\"@\"}", "<xml>@</xml>"},
      form);
  add(s.flaws, fate::refused,
      {name + "=@%4" + other, name + "=@%zz" + other, name + "=@&" + name + "=@" + other,
       name + "=@" + other + "&" + name + "=other", name + "=&" + name + "=@" + other,
       name + "=@&" + encoded + "=@" + other, name + "=@" + padding + other},
      form);
  add_types(s.flaws, fate::untouched, s.good, {"text/plain", json, "multipart/form-data; boundary=b", "nonsense", ""});
  return s;
}

void add_bad_fields(std::vector<flaw>& to, const std::string& name, const push& good) {
  for (const char* value : {"", "@, other", "\"@", "\"@\" x", "\"\"", "@ @", "@\xc3\xa9"})
    to.push_back({fate::refused, {good.body, good.type, {{name, value}}}});
  to.push_back({fate::refused, {good.body, good.type, {{name, "@" + padding}}}});
  to.push_back({fate::refused, {good.body, good.type, {{name, "@"}, {name, "@"}}}});
  to.push_back({fate::refused, {good.body, good.type, {{name, "@"}, {name, "other"}}}});
}

sender of_header(const std::string& preset, const std::string& name, answer success, std::vector<answer> failures) {
  sender s{preset, {"{\"n\":1}", json, {{name, "@"}}}, {}, std::move(success), std::move(failures)};
  for (const char* body : {"{\"n\":", "", "n=1", "{\"n\":1,\"n\":2}"})
    s.flaws.push_back({fate::keyed, {body, json, s.good.fields}});
  add_types(s.flaws, fate::keyed, s.good, {"text/plain", form, "nonsense", ""});
  add(s.flaws, fate::untouched, {"{\"n\":1}", "{\"id\":\"@\",\"" + name + "\":\"@\"}"}, json);
  s.flaws.push_back({fate::untouched, {"{\"n\":1}", json, {{name + "-2", "@"}, {"X-Id", "@"}}}});
  add_bad_fields(s.flaws, name, s.good);
  return s;
}

sender wechat_v2() {
  const std::string shop = "<mch_id>19</mch_id>", id = "<transaction_id>@</transaction_id>";
  const std::string good = "<xml>" + shop + id + "</xml>", yes = "<return_code>SUCCESS</return_code>";
  std::string deep = shop + id;
  for (int i = 0; i < 32; ++i) deep = "<a>" + deep + "</a>";
  sender s{"wechat_v2", {good, xml, {}}, {}, {200, "<xml>" + yes + "</xml>"}, {}};
  s.failures = {{201, s.success.body},
                {200, "<xml><return_code>FAIL</return_code></xml>"},
                {200, "<xml>" + yes + yes + "</xml>"},
                {200, "<xml>" + yes},
                {200, "{\"return_code\":\"SUCCESS\"}"},
                {200, "SUCCESS"},
                {200, ""}};
  add(s.flaws, fate::untouched,
      {"", "{\"transaction_id\":\"@\"}", good.substr(0, good.size() - 1), "<xml>" + shop + id + "</xm>", good + good,
       good + "x", "<!DOCTYPE xml>" + good, "<xml>&x;" + shop + id + "</xml>", "<xml>" + shop + id + deep + "</xml>",
       "<xml>" + shop + id + id},
      xml);
  add(s.flaws, fate::untouched,
      {"<xml>" + shop + "</xml>", "<xml>" + id + "</xml>", "<xml>" + shop + "<transaction_id/></xml>",
       "<xml>" + shop + "<transaction_id><v>@</v></transaction_id></xml>", "<xml>" + shop + "<a>" + id + "</a></xml>",
       "<yml>" + shop + id + "</yml>"},
      xml);
  add(s.flaws, fate::refused,
      {"<xml>" + shop + id + id + "</xml>", "<xml>" + id + shop + "<transaction_id>other</transaction_id></xml>",
       "<xml><transaction_id/>" + shop + id + "</xml>", "<xml>" + shop + shop + id + "</xml>",
       "<xml>" + shop + "<transaction_id>@" + padding + "</transaction_id></xml>",
       "<xml><mch_id>" + padding + "</mch_id>" + id + "</xml>"},
      xml);
  add_types(s.flaws, fate::keyed, s.good, {"text/plain", json, form, "nonsense", ""});
  return s;
}

sender twilio() {
  sender s = of_form("twilio", "MessageSid", "&MessageStatus=sent", {204, ""}, {{302, ""}});
  add(s.flaws, fate::untouched, {"MessageSid=@", "MessageSid=@&MessageStatus=", "MessageSid=@&CallStatus=sent"}, form);
  add(s.flaws, fate::refused, {"MessageSid=@&MessageStatus=sent&MessageStatus=read"}, form);
  add_bad_fields(s.flaws, "I-Twilio-Idempotency-Token", s.good);
  return s;
}

std::vector<sender> senders() {
  return {wechat_v2(),
          of_json("wechat_v3", "id", {204, ""}, {{201, ""}, {202, ""}}),
          of_form("alipay", "notify_id", "", {200, "success"},
                  {{201, "success"}, {200, "fail"}, {200, "success\n"}, {200, "Success"}, {200, ""}}),
          of_json("stripe", "id", {200, "ok"}, {{302, ""}}),
          of_header("github", "X-GitHub-Delivery", {202, "ok"}, {{302, ""}}),
          of_header("shopify", "X-Shopify-Webhook-Id", {200, "ok"}, {{201, ""}, {204, ""}}),
          of_json("paypal", "id", {200, "ok"}, {{302, ""}}),
          of_json("slack", "event_id", {200, "ok"}, {{302, ""}}),
          twilio(),
          of_header("standard_webhooks", "webhook-id", {204, ""}, {{302, ""}})};
}

class a_malformed_callback : public scenario {
 protected:
  /// One proxy for all senders, each at a path of its own.
  void SetUp() override {
    auto s = settings();
    s.routes.clear();
    for (const sender& one : senders_) {
      std::string name = one.preset;
      for (char& c : name) c = c == '_' ? '-' : c;
      s.routes.push_back("{name: " + name + ", match: {path: /" + one.preset +
                         "}, idempotency: {preset: " + one.preset + "}}");
    }
    start(s);
  }

  void answers(const sender& s, const answer& a) { backend.on("/" + s.preset, reply(a.status, a.body)); }

  void meets_its_fate(const sender& s, const flaw& f, const std::string& id) {
    const auto before = backend.count();
    // a malformed push that the application takes for good is the worst that can happen to the one after it
    const answer said = f.meets == fate::keyed ? answer{400, "malformed"} : s.success;
    answers(s, said);
    for (int twice = 0; twice < 2; ++twice) {
      const auto r = proxy->fetch(f.what.to(s.preset, id));
      EXPECT_TRUE(f.meets == fate::refused ? is_problem(r, 400, "malformed-key") : is_fresh(r, said.status));
    }
    EXPECT_EQ(backend.count() - before, f.meets == fate::refused ? 0u : 2u);
  }

  /// The well-formed push: handled once, and its repetitions are replays.
  http_response is_handled_once(const sender& s, const std::string& id) {
    const auto before = backend.count();
    backend.on("/" + s.preset, reply(s.success.status, s.success.body, {"X-Handled: " + id}));
    const auto first = proxy->fetch(s.good.to(s.preset, id));
    EXPECT_TRUE(is_fresh(first, s.success.status));
    EXPECT_EQ(first.value("X-Handled"), id);
    EXPECT_EQ(first.body, s.success.body);
    answers(s, {500, "executed again"});
    for (int twice = 0; twice < 2; ++twice) EXPECT_TRUE(is_replay(proxy->fetch(s.good.to(s.preset, id)), first));
    EXPECT_EQ(backend.count() - before, 1u);
    return first;
  }

  const std::vector<sender> senders_ = senders();
};

TEST_F(a_malformed_callback, neither_uses_up_the_key_of_a_good_one_nor_gets_its_answer) {
  for (const sender& s : senders_) {
    std::size_t number = 0;
    for (const flaw& f : s.flaws) {
      const std::string id = "evt-" + std::to_string(++number);
      SCOPED_TRACE(f.what.to(s.preset, id).bytes());
      meets_its_fate(s, f, id);
      const auto first = is_handled_once(s, id);
      if (f.meets == fate::keyed) {
        EXPECT_TRUE(is_replay(proxy->fetch(f.what.to(s.preset, id)), first));
      } else {
        meets_its_fate(s, f, id);
      }
      EXPECT_TRUE(is_replay(proxy->fetch(s.good.to(s.preset, id)), first));
    }
  }
}

TEST_F(a_malformed_callback, that_a_preset_lets_in_reaches_the_application_as_it_came) {
  for (const sender& s : senders_) {
    answers(s, {400, "malformed"});
    for (const flaw& f : s.flaws) {
      if (f.meets == fate::refused) continue;
      const auto q = f.what.to(s.preset, "evt");
      SCOPED_TRACE(q.bytes());
      ASSERT_TRUE(is_fresh(proxy->fetch(q), 400));
      const auto came = backend.requests().back();
      EXPECT_EQ(came.body, q.body);
      EXPECT_EQ(came.value("Content-Type"), f.what.type);
    }
  }
}

TEST_F(a_malformed_callback, with_an_id_too_long_is_not_the_one_that_its_beginning_names) {
  const std::string longest(254, 'k');
  for (const sender& s : senders_) {
    SCOPED_TRACE(s.preset);
    answers(s, s.success);
    EXPECT_TRUE(is_problem(proxy->fetch(s.good.to(s.preset, longest + "ab")), 400, "malformed-key"));
    is_handled_once(s, longest + "a");
    is_handled_once(s, longest + "b");
    EXPECT_TRUE(is_problem(proxy->fetch(s.good.to(s.preset, longest + "ab")), 400, "malformed-key"));
  }
}

TEST_F(a_malformed_callback, or_one_that_the_application_calls_so_leaves_the_next_push_to_be_executed) {
  for (const sender& s : senders_) {
    auto failures = s.failures;
    for (const int status : {400, 401}) failures.push_back({status, s.success.status == 204 ? "no" : s.success.body});
    std::size_t number = 0;
    for (const answer& a : failures) {
      SCOPED_TRACE(s.preset + " " + std::to_string(a.status) + " " + a.body);
      const std::string id = "failed-" + std::to_string(++number);
      const auto before = backend.count();
      answers(s, a);
      for (int twice = 0; twice < 2; ++twice) {
        const auto r = proxy->fetch(s.good.to(s.preset, id));
        EXPECT_TRUE(is_fresh(r, a.status));
        EXPECT_EQ(r.body, a.body);
      }
      EXPECT_EQ(backend.count() - before, 2u);
      is_handled_once(s, id);
    }
  }
}

}  // namespace
}  // namespace idem::test
