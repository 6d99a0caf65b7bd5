#include "idem/idempotency/webhook_signature.hpp"

#include <gtest/gtest.h>

#include "idem/text/base64.hpp"
#include "request.hpp"
#include "support/tokens.hpp"

namespace idem::idempotency {
namespace {

using config::signature_scheme;
using testing::request;

config::signature_config signed_by(signature_scheme scheme, std::string secret) {
  config::signature_config c;
  c.scheme = scheme;
  c.secret = std::move(secret);
  return c;
}

bool accepts(const config::signature_config& c, const request& q, std::string_view body, std::int64_t now = 0) {
  return !signature_fault(c, *q.view().head, body, now);
}

// The example of GitHub's own documentation.
TEST(github_signature, is_the_hmac_of_the_body_in_hex) {
  const auto c = signed_by(signature_scheme::github, "It's a Secret to Everybody");
  const std::string good = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  const std::string other = "sha1=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  EXPECT_TRUE(accepts(c, request().header("x-hub-signature-256", good), "Hello, World!"));
  EXPECT_FALSE(accepts(c, request().header("X-Hub-Signature-256", good), "Hello, World?"));
  EXPECT_FALSE(accepts(c, request().header("X-Hub-Signature-256", other), "Hello, World!"));
  EXPECT_FALSE(accepts(c, request(), "Hello, World!"));
  EXPECT_FALSE(
      accepts(c, request().header("X-Hub-Signature-256", good).header("X-Hub-Signature-256", good), "Hello, World!"));
}

// The example of Slack's own documentation.
TEST(slack_signature, covers_the_time_which_must_be_near) {
  const auto c = signed_by(signature_scheme::slack, "8f742231b10e8888abcd99yyyzzz85a5");
  const std::string body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name="
      "foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks."
      "slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121."
      "803a0bc887a14d10d2c447fce8b6703c";
  const std::int64_t then = 1531420618;
  const auto q =
      request()
          .header("X-Slack-Request-Timestamp", "1531420618")
          .header("X-Slack-Signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503");
  EXPECT_TRUE(accepts(c, q, body, then));
  EXPECT_TRUE(accepts(c, q, body, then + 300));
  EXPECT_FALSE(accepts(c, q, body, then + 301));
  EXPECT_FALSE(accepts(c, q, body, then - 301));
  EXPECT_FALSE(accepts(c, q, body + "&x=1", then));
}

// The example of the Standard Webhooks specification.
TEST(standard_webhooks_signature, covers_id_time_and_body) {
  const auto key = text::decode_base64("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", text::base64_alphabet::standard);
  const auto c = signed_by(signature_scheme::standard_webhooks, *key);
  const std::string body = R"({"test": 2432232314})";
  const std::string good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  const auto sent = [&](std::string_view id, std::string_view time, std::string_view signature) {
    request q;
    q.header("webhook-id", id).header("webhook-timestamp", time).header("webhook-signature", signature);
    return accepts(c, q, body, 1614265330);
  };
  const std::string id = "msg_p5jXN8AQM9LWM0D4loKWxJek", time = "1614265330";
  const std::string rotated = "v1,AAAA v1a,abc " + good, other_version = "v2" + good.substr(2);
  EXPECT_TRUE(sent(id, time, good));
  EXPECT_TRUE(sent(id, time, rotated));
  EXPECT_FALSE(sent("msg_other", time, good));
  EXPECT_FALSE(sent(id, "1614265331", good));
  EXPECT_FALSE(sent(id, time, other_version));
  EXPECT_FALSE(sent(id, time, good.substr(3)));
  EXPECT_FALSE(sent(id, time, ""));
}

TEST(stripe_signature, covers_time_and_body_and_may_come_several_times) {
  const auto c = signed_by(signature_scheme::stripe, "whsec_test");
  const std::string body = R"({"id":"evt_1"})";
  const std::string v1 = test::hex(test::hmac("whsec_test", "1700000000." + body));
  const auto sent = [&](const std::string& header, std::int64_t now = 1700000000) {
    return accepts(c, request().header("Stripe-Signature", header), body, now);
  };
  EXPECT_TRUE(sent("t=1700000000,v1=" + v1));
  EXPECT_TRUE(sent("t=1700000000,v1=" + std::string(64, 'a') + ",v1=" + v1 + ",v0=abc"));
  EXPECT_FALSE(sent("t=1700000000,v0=" + v1));
  EXPECT_FALSE(sent("t=1700000001,v1=" + v1));
  EXPECT_FALSE(sent("t=1700000000,t=1700000000,v1=" + v1));
  EXPECT_FALSE(sent("v1=" + v1));
  EXPECT_FALSE(sent("t=1700000000,v1=" + v1, 1700000301));
  EXPECT_FALSE(sent("t=1700000000,v1=" + v1.substr(1)));
}

TEST(shopify_signature, is_the_hmac_of_the_body_in_base64) {
  const auto c = signed_by(signature_scheme::shopify, "hush");
  const std::string good = test::base64(test::hmac("hush", "{}"));
  const std::string unpadded = good.substr(0, good.size() - 1);
  EXPECT_TRUE(accepts(c, request().header("X-Shopify-Hmac-Sha256", good), "{}"));
  EXPECT_FALSE(accepts(c, request().header("X-Shopify-Hmac-Sha256", good), "{ }"));
  EXPECT_FALSE(accepts(c, request().header("X-Shopify-Hmac-Sha256", unpadded), "{}"));
  EXPECT_FALSE(accepts(c, request(), "{}"));
}

}  // namespace
}  // namespace idem::idempotency
