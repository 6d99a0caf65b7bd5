#include "config/jwks.hpp"

#include <gtest/gtest.h>

#include "support/tokens.hpp"

namespace idem::config {
namespace {

using idem::test::signing_key;

TEST(key_set, gives_the_keys_that_can_verify) {
  const signing_key rsa("RS256", "r"), ec("ES256"), ed("EdDSA", "e");
  const auto keys = parse_jwks(test::jwks({&rsa, &ec, &ed}));
  ASSERT_TRUE(keys) << keys.why;
  ASSERT_EQ((*keys)->keys.size(), 3u);
  EXPECT_EQ((*keys)->keys[0].algorithm, jwt_algorithm::rs256);
  EXPECT_EQ((*keys)->keys[0].id, "r");
  EXPECT_EQ((*keys)->keys[1].algorithm, jwt_algorithm::es256);
  EXPECT_EQ((*keys)->keys[2].algorithm, jwt_algorithm::eddsa);
}

std::string with(const std::string& jwk, const std::string& member) { return "{" + member + "," + jwk.substr(1); }

TEST(key_set, passes_over_keys_for_other_ends_and_shared_secrets) {
  const signing_key good("ES256");
  const std::string jwk = good.jwk();
  const auto size = [&](const std::string& first) {
    const auto keys = parse_jwks("{\"keys\":[" + first + "," + jwk + "]}");
    return keys ? (*keys)->keys.size() : 0;
  };
  EXPECT_EQ(size(jwk), 2u);
  EXPECT_EQ(size(with(jwk, R"("use":"sig")")), 2u);
  EXPECT_EQ(size(with(jwk, R"("use":"enc")")), 1u);
  EXPECT_EQ(size(with(jwk, R"("key_ops":["sign"])")), 1u);
  EXPECT_EQ(size(with(jwk, R"("alg":"ES384")")), 1u);
  EXPECT_EQ(size(R"({"kty":"oct","k":"AAAA"})"), 1u);
  EXPECT_EQ(size(R"({"kty":"EC","crv":"P-521"})"), 1u);
}

TEST(key_set, with_a_broken_key_or_without_any_is_refused) {
  const signing_key ec("ES256");
  const std::string jwk = ec.jwk();
  std::string off_curve = jwk;
  const auto y = off_curve.find("\"y\":\"") + 5;
  off_curve[y] = off_curve[y] == 'A' ? 'B' : 'A';
  for (const std::string& text :
       {std::string("{}"), std::string("[]"), std::string("{\"keys\":{}}"), std::string("no"),
        std::string("{\"keys\":[]}"), std::string("{\"keys\":[1]}"), "{\"keys\":[" + off_curve + "]}",
        std::string(R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]})"),
        std::string(R"({"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]})"),
        std::string(R"({"keys":[{"kty":"oct","k":"AAAA"}]})")}) {
    EXPECT_FALSE(parse_jwks(text)) << text;
  }
}

}  // namespace
}  // namespace idem::config
