// Callbacks: senders that follow their ladders, the answers they take for success, and what they must never be told
// (docs/routes.md, "Callbacks").
#include "scenario/scenario.hpp"
#include "support/tokens.hpp"

namespace idem::test {
namespace {

/// One event as its sender pushes it. The n-th try may differ from the first in what signatures and times change.
struct sender {
  std::string preset;
  std::function<http_request(int attempt)> push;
  std::string good_body;  ///< of an answer that the sender takes for success
  int good_status = 200;
  int tries = 8;  ///< of the ladder, its waits compressed to a moment
};

http_request message(std::string body, std::string type) {
  http_request q;
  q.target = "/hook";
  q.with("Content-Type", std::move(type));
  q.body = std::move(body);
  return q;
}

std::string wechat_v2_body(const std::string& number, int attempt) {
  return "<xml><return_code><![CDATA[SUCCESS]]></return_code><mch_id>1900000109</mch_id><nonce_str>n" +
         std::to_string(attempt) + "</nonce_str><transaction_id><![CDATA[" + number + "]]></transaction_id><sign>s" +
         std::to_string(attempt) + "</sign></xml>";
}

std::string n(int attempt) { return std::to_string(attempt); }

/// Each sender with everything in its pushes that changes from try to try.
std::vector<sender> senders() {
  const std::string json = "application/json", form = "application/x-www-form-urlencoded";
  const std::string wechat_ok = "<xml><return_code><![CDATA[SUCCESS]]></return_code></xml>";
  return {
      {"wechat_v2", [](int a) { return message(wechat_v2_body("42000000001", a), "text/xml"); }, wechat_ok, 200, 15},
      {"wechat_v3",
       [=](int a) {
         auto q = message("{\"id\":\"EV-1\",\"create_time\":\"t\",\"resource\":{\"nonce\":\"" + n(a) + "\"}}", json);
         return q.with("Wechatpay-Signature", "s" + n(a)), q;
       },
       "", 204, 15},
      {"alipay",
       [=](int a) {
         return message("notify_id=abc%2B1&notify_time=" + n(a) +
                            "&trade_no=7&trade_status=TRADE_SUCCESS&subject=%C9%CC&sign=" + n(a),
                        form);
       },
       "success", 200, 8},
      {"stripe",
       [=](int a) {
         auto q = message("{\"id\":\"evt_1\",\"pending_webhooks\":" + n(a) + "}", json);
         return q.with("Stripe-Signature", "t=" + n(a) + ",v1=00"), q;
       },
       "", 200, 10},
      {"github",
       [=](int) {
         auto q = message("{\"zen\":1}", json);
         return q.with("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"), q;
       },
       "", 202, 3},
      {"shopify",
       [=](int a) {
         auto q = message("{\"n\":" + n(a) + "}", json);
         return q.with("X-Shopify-Webhook-Id", "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043"), q;
       },
       "", 200, 8},
      {"paypal",
       [=](int a) {
         auto q = message("{\"id\":\"WH-1\"}", json);
         return q.with("PAYPAL-TRANSMISSION-ID", n(a)), q;
       },
       "", 200, 25},
      {"slack",
       [=](int a) {
         auto q = message("{\"type\":\"event_callback\",\"event_id\":\"Ev1\"}", json);
         return q.with("X-Slack-Retry-Num", n(a)), q;
       },
       "", 200, 4},
      {"twilio", [=](int a) { return message("MessageSid=SM1&MessageStatus=sent&X=" + n(a), form); }, "", 204, 5},
      {"standard_webhooks",
       [=](int a) {
         auto q = message("{\"type\":\"a\"}", json);
         return q.with("webhook-id", "msg_1").with("webhook-timestamp", n(a)), q;
       },
       "", 204, 10},
  };
}

class a_callback : public on_every_store {
 protected:
  void serve(const std::string& preset, const std::string& more = {}) {
    start("preset: " + preset + (more.empty() ? "" : ", " + more));
  }
};
RUNS_ON_EVERY_STORE(a_callback);

/// The handler fails twice in the ways that failing handlers do, then works; the sender goes on until it sees success,
/// and some more (its view of our answer may be lost). The event is handled once.
TEST_P(a_callback, is_handled_once_along_the_ladder_of_every_sender) {
  for (const sender& s : senders()) {
    SCOPED_TRACE(s.preset);
    const std::size_t before = backend.count();
    backend.on("*", in_turn({reply(500, "down"), reply(400, "bad signature"), reply(s.good_status, s.good_body),
                             reply(200, "handled again")}));
    serve(s.preset);
    EXPECT_TRUE(is_fresh(proxy->fetch(s.push(0)), 500));
    EXPECT_TRUE(is_fresh(proxy->fetch(s.push(1)), 400));
    const auto handled = proxy->fetch(s.push(2));
    EXPECT_TRUE(is_fresh(handled, s.good_status));
    EXPECT_EQ(handled.body, s.good_body);
    for (int a = 3; a < s.tries; ++a) EXPECT_TRUE(is_replay(proxy->fetch(s.push(a)), handled)) << a;
    EXPECT_EQ(backend.count() - before, 3u);
    proxy.reset();
    SetUp();
  }
}

TEST_P(a_callback, whose_200_means_failure_is_executed_again) {
  serve("wechat_v2");
  const std::string failed = "<xml><return_code><![CDATA[FAIL]]></return_code></xml>";
  for (const std::string& body :
       {failed, std::string("SUCCESS"), std::string(), std::string("<xml><return_code>SUCCESS</return_code>"),
        std::string("<!DOCTYPE xml><xml><return_code>SUCCESS</return_code></xml>"),
        std::string("<xml><return_code>SUCCESS</return_code><return_code>SUCCESS</return_code></xml>")}) {
    backend.on("*", reply(200, body));
    const auto q = message(wechat_v2_body("w" + std::to_string(body.size()), 1), "text/xml");
    const auto first = proxy->fetch(q);
    EXPECT_TRUE(is_fresh(first, 200));
    EXPECT_EQ(first.body, body);
    EXPECT_TRUE(is_fresh(proxy->fetch(q), 200)) << body;
  }
}

TEST_P(a_callback, of_alipay_wants_success_and_nothing_else) {
  serve("alipay");
  const auto notice = [](const std::string& id) {
    return message("notify_id=" + id, "application/x-www-form-urlencoded");
  };
  for (const char* body : {"fail", "success\n", "\"success\"", "Success", ""}) {
    backend.on("*", reply(200, body));
    EXPECT_TRUE(is_fresh(proxy->fetch(notice("a1")), 200)) << body;
  }
  backend.on("*", reply(200, "success", {}, framing::chunked));
  const auto done = proxy->fetch(notice("a1"));
  EXPECT_TRUE(is_fresh(done, 200));
  EXPECT_TRUE(is_replay(proxy->fetch(notice("a1")), done));
  EXPECT_TRUE(is_replay(proxy->fetch(notice("%61%31")), done));
  EXPECT_TRUE(is_fresh(proxy->fetch(notice("A1")), 200));
}

TEST_P(a_callback, with_a_json_condition_is_judged_by_its_body) {
  start("key: {from: [\"json:/id\"]}, scope: [\"const:x\"], answer: {success: {body: \"json:/code == SUCCESS\"}}");
  const auto q = message("{\"id\":1}", "application/json");
  for (const char* body :
       {"{\"code\":\"FAIL\"}", "{\"code\":\"SUCCESS\",\"code\":\"SUCCESS\"}", "{\"code\":\"SUCCESS\"", "{}"}) {
    backend.on("*", reply(200, body));
    EXPECT_TRUE(is_fresh(proxy->fetch(q), 200)) << body;
  }
  backend.on("*", reply(200, "{\"code\":\"SUCCESS\"}"));
  const auto done = proxy->fetch(q);
  EXPECT_TRUE(is_replay(proxy->fetch(q), done));
  EXPECT_EQ(backend.count(), 5u);
}

TEST_P(a_callback, that_the_application_does_not_let_in_never_uses_up_the_key) {
  start("preset: stripe, statuses: {final: [4xx]}");
  const auto q = message("{\"id\":\"evt_9\"}", "application/json");
  for (const int status : {401, 403}) {
    backend.on("*", reply(status, "no"));
    EXPECT_TRUE(is_fresh(proxy->fetch(q), status));
    EXPECT_TRUE(is_fresh(proxy->fetch(q), status));
  }
  backend.on("*", reply(410, "gone"));
  const auto said = proxy->fetch(q);
  EXPECT_TRUE(is_fresh(said, 410));
  EXPECT_TRUE(is_replay(proxy->fetch(q), said));
}

TEST_P(a_callback, that_is_pushed_by_two_servers_at_once_is_handled_once) {
  gate handled;
  backend.on("*", held(handled, reply(200, "")));
  serve("slack");
  const auto q = message("{\"event_id\":\"Ev2\"}", "application/json");
  auto first = in_background([&] { return proxy->fetch(q); });
  ASSERT_TRUE(backend.wait_for(1));
  auto second = in_background([&] { return proxy->fetch(q); });
  EXPECT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) > 0; }, 5s));
  handled.open();
  const auto answer = first.get();
  EXPECT_TRUE(is_fresh(answer, 200));
  EXPECT_TRUE(is_replay(second.get(), answer));
  EXPECT_EQ(backend.count(), 1u);
}

TEST_P(a_callback, that_waited_for_a_failure_is_executed_itself) {
  gate failed;
  backend.on("*", in_turn({held(failed, reply(200, "fail")), reply(200, "success")}));
  serve("alipay");
  const auto q = message("notify_id=w1", "application/x-www-form-urlencoded");
  auto first = in_background([&] { return proxy->fetch(q); });
  ASSERT_TRUE(backend.wait_for(1));
  auto second = in_background([&] { return proxy->fetch(q); });
  EXPECT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) > 0; }, 5s));
  failed.open();
  EXPECT_EQ(first.get().body, "fail");
  EXPECT_EQ(second.get().body, "success");
  EXPECT_EQ(backend.count(), 2u);
}

TEST_P(a_callback, without_its_id_passes_and_with_two_of_them_is_refused) {
  serve("slack");
  const auto challenge = message("{\"type\":\"url_verification\",\"challenge\":\"c\"}", "application/json");
  EXPECT_TRUE(is_fresh(proxy->fetch(challenge), 200));
  EXPECT_TRUE(is_fresh(proxy->fetch(challenge), 200));
  EXPECT_TRUE(is_problem(proxy->fetch(message("{\"event_id\":\"Ev1\",\"event_id\":\"Ev2\"}", "application/json")), 400,
                         "malformed-key"));
  EXPECT_EQ(backend.count(), 2u);
}

TEST_P(a_callback, in_broken_xml_passes_without_a_key) {
  serve("wechat_v2");
  const std::string good = wechat_v2_body("42", 1);
  for (const std::string& body :
       {"<!DOCTYPE x [<!ENTITY e \"SUCCESS\">]>" + good, good.substr(0, good.size() - 3), std::string("{}")}) {
    EXPECT_TRUE(is_fresh(proxy->fetch(message(body, "text/xml")), 200));
    EXPECT_TRUE(is_fresh(proxy->fetch(message(body, "text/xml")), 200)) << body;
  }
}

TEST_P(a_callback, of_another_event_of_the_same_trade_is_another_event) {
  backend.on("*", reply(200, "success"));
  serve("alipay");
  const std::string form = "application/x-www-form-urlencoded";
  EXPECT_TRUE(is_fresh(proxy->fetch(message("notify_id=1&trade_no=7&trade_status=TRADE_SUCCESS", form)), 200));
  EXPECT_TRUE(is_fresh(proxy->fetch(message("notify_id=2&trade_no=7&trade_status=TRADE_FINISHED", form)), 200));
  EXPECT_EQ(backend.count(), 2u);
}

TEST_P(a_callback, whose_sender_does_not_sign_it_is_refused_before_the_claim) {
  const temporary_folder folder;
  const std::string file = folder.write("secret", "whsec_test\n");
  serve("stripe", "signature: {secret_file: " + file + "}");
  const std::string body = "{\"id\":\"evt_1\"}";
  const auto signed_with = [&](const std::string& secret, std::int64_t at) {
    const std::string time = std::to_string(at);
    return message(body, "application/json")
        .with("Stripe-Signature", "t=" + time + ",v1=" + hex(hmac(secret, time + "." + body)));
  };
  const auto forged = proxy->fetch(signed_with("guess", unix_now()));
  EXPECT_TRUE(is_problem(forged, 401, "bad-signature"));
  EXPECT_TRUE(forged.has("WWW-Authenticate"));
  EXPECT_TRUE(is_problem(proxy->fetch(signed_with("whsec_test", unix_now() - 3600)), 401, "bad-signature"));
  EXPECT_TRUE(is_problem(proxy->fetch(message(body, "application/json")), 401, "bad-signature"));
  EXPECT_TRUE(is_problem(proxy->fetch(message("{}", "application/json")), 401, "bad-signature")) << "nor without an id";
  EXPECT_EQ(backend.count(), 0u);
  const auto first = proxy->fetch(signed_with("whsec_test", unix_now()));
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(proxy->fetch(signed_with("whsec_test", unix_now() + 1)), first));
  EXPECT_TRUE(is_problem(proxy->fetch(signed_with("guess", unix_now())), 401, "bad-signature"));
}

/// What a sender that signs puts around a body.
struct signer {
  std::string preset;
  std::string secret;  ///< as the sender shows it
  std::string key;     ///< what the HMAC is keyed with
  bool timed;          ///< the signature holds for a time
  std::function<field_lines(const std::string& key, const std::string& id, const std::string& time,
                            const std::string& body)>
      fields;
};

std::vector<signer> signers() {
  const std::string raw = "a secret of 24 bytes....";
  return {
      {"github", "shared", "shared", false,
       [](const auto& key, const auto& id, const auto&, const auto& body) -> field_lines {
         return {{"X-GitHub-Delivery", id}, {"X-Hub-Signature-256", "sha256=" + hex(hmac(key, body))}};
       }},
      {"shopify", "shpss_1", "shpss_1", false,
       [](const auto& key, const auto& id, const auto&, const auto& body) -> field_lines {
         return {{"X-Shopify-Webhook-Id", id}, {"X-Shopify-Hmac-Sha256", base64(hmac(key, body))}};
       }},
      {"slack", "8f742231b10e", "8f742231b10e", true,
       [](const auto& key, const auto&, const auto& time, const auto& body) -> field_lines {
         return {{"X-Slack-Request-Timestamp", time},
                 {"X-Slack-Signature", "v0=" + hex(hmac(key, "v0:" + time + ":" + body))}};
       }},
      {"standard_webhooks", "whsec_" + base64(raw), raw, true,
       [](const auto& key, const auto& id, const auto& time, const auto& body) -> field_lines {
         return {{"webhook-id", id},
                 {"webhook-timestamp", time},
                 {"webhook-signature", "v2,AAAA v1," + base64(hmac("an older secret", time)) + " v1," +
                                           base64(hmac(key, id + "." + time + "." + body))}};
       }},
  };
}

/// The push of event 1 with these fields around `body`.
http_request pushed(const field_lines& fields, const std::string& body) {
  auto q = message(body, "application/json");
  for (const auto& [name, value] : fields) q.with(name, value);
  return q;
}

/// Every push that must not reach the application, and why.
std::vector<std::pair<std::string, http_request>> forgeries(const signer& s, const std::string& body) {
  const auto now = std::to_string(unix_now());
  const auto good = s.fields(s.key, "evt-1", now, body);
  std::vector<std::pair<std::string, http_request>> all{
      {"another secret", pushed(s.fields("guess", "evt-1", now, body), body)},
      {"another body", pushed(good, body + " ")},
      {"no signature", pushed({good.begin(), good.end() - 1}, body)},
  };
  auto twice = good;
  twice.push_back(good.back());
  all.emplace_back("two signatures", pushed(twice, body));
  if (!s.timed) return all;
  for (const int off : {-3600, 3600}) {
    const auto then = std::to_string(unix_now() + off);
    all.emplace_back("signed " + std::to_string(off) + " s from now",
                     pushed(s.fields(s.key, "evt-1", then, body), body));
    auto moved = s.fields(s.key, "evt-1", then, body);
    for (auto& [name, value] : moved) value = value == then ? now : value;
    all.emplace_back("another time than the signed one", pushed(moved, body));
  }
  return all;
}

TEST_P(a_callback, of_every_sender_that_signs_is_let_in_by_its_signature_alone) {
  const temporary_folder folder;
  const std::string body = "{\"event_id\":\"evt-1\"}";
  for (const signer& s : signers()) {
    SCOPED_TRACE(s.preset);
    serve(s.preset, "signature: {secret_file: " + folder.write(s.preset, s.secret + "\n") + "}");
    const auto before = backend.count();
    const auto refuses_forgeries = [&] {
      for (const auto& [what, push] : forgeries(s, body))
        EXPECT_TRUE(is_problem(proxy->fetch(push), 401, "bad-signature")) << what;
    };
    refuses_forgeries();
    EXPECT_EQ(backend.count(), before) << "nobody but the sender uses up an event's key";
    const auto at = [&](int off) {
      return proxy->fetch(pushed(s.fields(s.key, "evt-1", std::to_string(unix_now() + off), body), body));
    };
    const auto first = at(0);
    EXPECT_TRUE(is_fresh(first, 200));
    EXPECT_TRUE(is_replay(at(1), first));
    refuses_forgeries();
    EXPECT_EQ(backend.count() - before, 1u);
    proxy.reset();
    SetUp();
  }
}

TEST_P(a_callback, that_is_too_large_to_be_judged_goes_by_its_status) {
  serve("alipay", "max_stored_body: 16B");
  backend.on("*", reply(200, std::string(100, 'x')));
  const auto q = message("notify_id=big", "application/x-www-form-urlencoded");
  EXPECT_TRUE(is_fresh(proxy->fetch(q), 200));
  EXPECT_TRUE(is_problem(proxy->fetch(q), 409, "answer-not-kept"));
}

TEST_P(a_callback, keyed_by_its_fingerprint_is_one_for_a_short_time_only) {
  start("key: {from: [fingerprint], fingerprint_ttl: 1s}, lease: 1s, scope: [\"const:x\"]");
  const auto first = post("");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(post(""), first));
  EXPECT_TRUE(eventually([&] { return !post("").has("Idempotent-Replayed"); }, 5s));
  EXPECT_TRUE(is_fresh(post("", "{\"amount\":2}"), 200));
}

TEST_P(a_callback, with_a_member_twice_where_the_fingerprint_looks_is_refused) {
  start("fingerprint: {exclude: [\"/meta/at\", \"/items/*/id\"]}");
  EXPECT_TRUE(is_problem(post("k", "{\"meta\":{\"at\":1,\"at\":2}}"), 400, "malformed-request"));
  EXPECT_TRUE(is_problem(post("k", "{\"items\":[{},{\"id\":1,\"id\":2}]}"), 400, "malformed-request"));
  EXPECT_EQ(backend.count(), 0u);
  const auto first = post("k", "{\"meta\":{\"at\":1},\"a\":1,\"a\":2}");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(post("k", "{\"meta\":{\"at\":2},\"a\":1,\"a\":2}"), first));
}

}  // namespace
}  // namespace idem::test
