#include "idem/idempotency/bearer_token.hpp"

#include <gtest/gtest.h>

#include "config/jwks.hpp"
#include "request.hpp"
#include "support/tokens.hpp"

namespace idem::idempotency {
namespace {

using namespace std::chrono_literals;
using test::signing_key;
constexpr std::int64_t now = 1'800'000'000;

config::jwt_config settings_for(const std::string& jwks) {
  config::jwt_config c;
  c.keys = *config::parse_jwks(jwks);
  c.leeway = 10s;
  return c;
}

const std::string secret = "0123456789abcdef0123456789abcdef";

config::jwt_config by_secret() {
  config::jwt_config c;
  c.keys = config::hmac_keys(secret);
  c.leeway = 10s;
  return c;
}

token_fault fault_of(std::string_view claims) {
  return check_token(by_secret(), test::hs256_token(secret, claims), now).fault;
}

TEST(a_token, of_every_algorithm_gives_its_claims) {
  for (const char* algorithm : {"RS256", "ES256", "EdDSA"}) {
    const signing_key key(algorithm, "k1");
    const auto checked =
        check_token(settings_for(test::jwks({&key})), key.token(R"({"sub":"alice","n":7,"ok":true})"), now);
    EXPECT_EQ(checked.fault, token_fault::none) << algorithm;
    EXPECT_EQ(checked.token.claim("sub"), "alice");
    EXPECT_EQ(checked.token.claim("n"), "7");
    EXPECT_EQ(checked.token.claim("ok"), "true");
    EXPECT_FALSE(checked.token.claim("other"));
  }
  const auto checked = check_token(by_secret(), test::hs256_token(secret, R"({"sub":"bob"})"), now);
  EXPECT_EQ(checked.token.claim("sub"), "bob");
}

TEST(a_token, that_was_changed_or_signed_with_another_key_does_not_verify) {
  for (const char* algorithm : {"RS256", "ES256", "EdDSA"}) {
    const signing_key key(algorithm), other(algorithm);
    const auto settings = settings_for(test::jwks({&key}));
    EXPECT_EQ(check_token(settings, other.token(R"({"sub":"alice"})"), now).fault, token_fault::signature) << algorithm;
    const std::string header = std::string("{\"alg\":\"") + algorithm + "\"}";
    const std::string signature =
        key.sign(test::base64url(header) + "." + test::base64url(std::string_view(R"({"sub":"alice"})")));
    EXPECT_EQ(check_token(settings, test::token_of(header, R"({"sub":"alice"})", signature), now).fault,
              token_fault::none);
    EXPECT_EQ(check_token(settings, test::token_of(header, R"({"sub":"mallory"})", signature), now).fault,
              token_fault::signature);
    EXPECT_EQ(check_token(settings, test::token_of(header, R"({"sub":"alice"})", signature.substr(1)), now).fault,
              token_fault::signature);
    EXPECT_EQ(check_token(settings, test::token_of(header, R"({"sub":"alice"})", ""), now).fault,
              token_fault::signature);
  }
}

TEST(a_token, without_a_signature_never_verifies) {
  const signing_key key("RS256");
  for (const char* name : {"none", "None", "NONE", "nOnE", ""}) {
    const auto token = test::token_of(std::string("{\"alg\":\"") + name + "\"}", R"({"sub":"alice"})", "");
    EXPECT_EQ(check_token(settings_for(test::jwks({&key})), token, now).fault, token_fault::algorithm) << name;
    EXPECT_EQ(check_token(by_secret(), token, now).fault, token_fault::algorithm) << name;
  }
  EXPECT_EQ(check_token(by_secret(), test::token_of("{}", "{}", ""), now).fault, token_fault::algorithm);
}

TEST(a_token, cannot_make_a_public_key_a_shared_secret) {
  const signing_key key("RS256");
  const std::string set = test::jwks({&key});
  EXPECT_EQ(check_token(settings_for(set), test::hs256_token(set, R"({"sub":"alice"})"), now).fault,
            token_fault::algorithm);
  EXPECT_EQ(check_token(settings_for(set), test::hs256_token("", R"({"sub":"alice"})"), now).fault,
            token_fault::algorithm);
  EXPECT_EQ(check_token(by_secret(), key.token(R"({"sub":"alice"})"), now).fault, token_fault::algorithm);
}

TEST(a_token, is_tried_with_the_keys_of_its_id) {
  const signing_key first("ES256", "1"), second("ES256", "2"), third("RS256", "3");
  const auto both = settings_for(test::jwks({&first, &second, &third}));
  for (const signing_key* key : {&first, &second, &third}) {
    EXPECT_EQ(check_token(both, key->token("{}"), now).fault, token_fault::none);
  }
  EXPECT_EQ(check_token(settings_for(test::jwks({&second})), first.token("{}"), now).fault, token_fault::signature);
  const signing_key unnamed("ES256");
  EXPECT_EQ(check_token(settings_for(test::jwks({&first, &unnamed})), unnamed.token("{}"), now).fault,
            token_fault::none);
}

TEST(a_token, is_good_from_nbf_until_exp_give_or_take_the_leeway) {
  const auto at = [](std::int64_t s) { return std::to_string(now + s); };
  EXPECT_EQ(fault_of("{\"exp\":" + at(1) + "}"), token_fault::none);
  EXPECT_EQ(fault_of("{\"exp\":" + at(-9) + "}"), token_fault::none);
  EXPECT_EQ(fault_of("{\"exp\":" + at(-10) + "}"), token_fault::expired);
  EXPECT_EQ(fault_of("{\"exp\":" + at(-9) + ".5}"), token_fault::none);
  EXPECT_EQ(fault_of("{\"nbf\":" + at(10) + "}"), token_fault::none);
  EXPECT_EQ(fault_of("{\"nbf\":" + at(11) + "}"), token_fault::not_yet_valid);
  EXPECT_EQ(fault_of("{\"exp\":\"" + at(100) + "\"}"), token_fault::malformed);
  EXPECT_EQ(fault_of("{\"exp\":null}"), token_fault::malformed);
  EXPECT_EQ(fault_of("{\"exp\":1e999}"), token_fault::malformed);
  EXPECT_EQ(fault_of("{\"nbf\":[1]}"), token_fault::malformed);
}

TEST(a_token, is_for_the_issuer_and_the_audience_that_are_configured) {
  config::jwt_config c = by_secret();
  c.issuer = "https://id.example";
  c.audience = "orders";
  const auto fault = [&](std::string_view claims) {
    return check_token(c, test::hs256_token(secret, claims), now).fault;
  };
  EXPECT_EQ(fault(R"({"iss":"https://id.example","aud":"orders"})"), token_fault::none);
  EXPECT_EQ(fault(R"({"iss":"https://id.example","aud":["x","orders"]})"), token_fault::none);
  EXPECT_EQ(fault(R"({"iss":"https://id.example/","aud":"orders"})"), token_fault::issuer);
  EXPECT_EQ(fault(R"({"aud":"orders"})"), token_fault::issuer);
  EXPECT_EQ(fault(R"({"iss":"https://id.example"})"), token_fault::audience);
  EXPECT_EQ(fault(R"({"iss":"https://id.example","aud":"Orders"})"), token_fault::audience);
  EXPECT_EQ(fault(R"({"iss":"https://id.example","aud":{"a":"orders"}})"), token_fault::audience);
  EXPECT_EQ(fault(R"({"iss":"https://id.example","aud":[["orders"],{"a":"orders"}]})"), token_fault::audience);
  EXPECT_EQ(fault(R"({"iss":["https://id.example"],"aud":"orders"})"), token_fault::issuer);
}

TEST(a_token, with_a_claim_twice_or_no_object_is_malformed) {
  EXPECT_EQ(fault_of(R"({"sub":"alice","sub":"bob"})"), token_fault::malformed);
  EXPECT_EQ(fault_of(R"({"a":{"sub":1,"sub":2}})"), token_fault::none);
  EXPECT_EQ(fault_of(R"(["sub"])"), token_fault::malformed);
  EXPECT_EQ(fault_of(R"({"sub":"alice"} )"), token_fault::none);
  EXPECT_EQ(fault_of(R"({"sub":"alice"}x)"), token_fault::malformed);
  EXPECT_EQ(fault_of(""), token_fault::malformed);
}

TEST(a_token, whose_form_is_no_jws_is_malformed) {
  const auto good = test::hs256_token(secret, "{}");
  const auto fault = [](std::string_view token) { return check_token(by_secret(), token, now).fault; };
  EXPECT_EQ(fault(good), token_fault::none);
  for (const std::string& bad :
       {good + ".", "." + good, good + "=", good.substr(0, good.rfind('.')), std::string("a.b"), std::string(),
        std::string(".."), good + "\n", std::string(20'000, 'a')}) {
    EXPECT_NE(fault(bad), token_fault::none) << bad.substr(0, 80);
  }
  const std::string header = R"({"alg":"HS256","crit":["b64"],"b64":false})";
  const auto signature = test::hmac(secret, test::base64url(header) + "." + test::base64url("{}"));
  EXPECT_EQ(fault(test::token_of(header, "{}", signature)), token_fault::malformed);
}

TEST(a_claim, counts_only_as_a_scalar_of_the_outermost_object) {
  const auto checked = check_token(
      by_secret(), test::hs256_token(secret, R"({"a":{"sub":"mallory"},"sub":"","n":null,"l":["x"],"t":"y"})"), now);
  ASSERT_EQ(checked.fault, token_fault::none);
  for (const char* name : {"sub", "n", "l", "a", ""}) EXPECT_FALSE(checked.token.claim(name)) << name;
  EXPECT_EQ(checked.token.claim("t"), "y");
}

TEST(a_bearer, is_the_only_authorization_of_a_request) {
  const std::string bearer = "Bearer " + test::hs256_token(secret, "{}"), lower = "bearer " + bearer.substr(7);
  const auto fault = [](const testing::request& q) {
    return check_bearer_token(by_secret(), *q.view().head, now).fault;
  };
  EXPECT_EQ(fault(testing::request().header("Authorization", bearer)), token_fault::none);
  EXPECT_EQ(fault(testing::request().header("authorization", lower)), token_fault::none);
  EXPECT_EQ(fault(testing::request()), token_fault::absent);
  EXPECT_EQ(fault(testing::request().header("Authorization", "Basic YTpi")), token_fault::absent);
  EXPECT_EQ(fault(testing::request().header("Authorization", bearer).header("Authorization", bearer)),
            token_fault::absent);
}

}  // namespace
}  // namespace idem::idempotency
