#include "idempotency/scope.hpp"

#include <gtest/gtest.h>

#include <set>

#include "request.hpp"

namespace idem::idempotency {
namespace {

using testing::request;
using testing::source;

std::string name_with(std::vector<std::string_view> scope, const request& q) {
  std::vector<config::source> sources;
  for (const std::string_view s : scope) sources.push_back(source(s));
  return record_name("", "n", scope_parts(sources, q.view()), {{"k", "v"}});
}

bool refused(std::vector<std::string_view> scope, const request& q) {
  std::vector<config::source> sources;
  for (const std::string_view s : scope) sources.push_back(source(s));
  const auto why = scope_refusal(sources, q.view());
  if (why) EXPECT_TRUE(why->ends_with('.'));
  return why.has_value();
}

TEST(credential_scope, every_credential_is_a_caller_of_its_own) {
  const std::set<std::string> names = {
      name_with({"credential"}, request()),
      name_with({"credential"}, request().header("Authorization", "Bearer a")),
      name_with({"credential"}, request().header("Authorization", "Bearer b")),
      name_with({"credential"}, request().header("X-Api-Key", "Bearer a")),
      name_with({"credential"}, request().header("X-API-Key", "b")),
      name_with({"credential"}, request().header("Authorization", "Bearer a").header("X-Api-Key", "b")),
      name_with({"credential"}, request().header("Authorization", "Bearer a").header("Authorization", "Bearer b")),
      name_with({"credential"}, request().header("Authorization", "Bearer b").header("Authorization", "Bearer a")),
  };
  EXPECT_EQ(names.size(), 8u);
}

TEST(credential_scope, an_empty_credential_is_none) {
  EXPECT_EQ(name_with({"credential"}, request()), name_with({"credential"}, request().header("Authorization", "")));
}

TEST(credential_scope, anonymous_callers_are_one_caller) {
  EXPECT_FALSE(refused({"credential"}, request()));
  EXPECT_FALSE(refused({"credential"}, request().header("Accept", "*/*")));
}

TEST(credential_scope, a_cookie_alone_is_refused) {
  EXPECT_TRUE(refused({"credential"}, request().header("Cookie", "session=1")));
  EXPECT_TRUE(refused({"credential", "const:x"}, request().header("Cookie", "session=1")));
  EXPECT_TRUE(refused({"credential"}, request().header("Cookie", "session=1").header("Authorization", "")));
  EXPECT_FALSE(refused({"credential"}, request().header("Cookie", "session=1").header("Authorization", "Bearer a")));
  EXPECT_FALSE(refused({"credential"}, request().header("Cookie", "session=1").header("X-Api-Key", "a")));
}

TEST(credential_scope, a_cookie_that_the_scope_names_as_well_is_taken) {
  EXPECT_FALSE(refused({"credential", "cookie:session"}, request().header("Cookie", "session=1")));
  EXPECT_FALSE(refused({"credential", "header:Cookie"}, request().header("Cookie", "session=1")));
}

TEST(credential_scope, an_authorization_that_changes_with_each_try_is_refused) {
  for (const std::string_view value : {"AWS4-HMAC-SHA256 Credential=a",
                                       "aws4-ecdsa-p256-sha256 Credential=a",
                                       "OAuth oauth_nonce=\"1\"",
                                       "oauth",
                                       "Digest username=\"a\"",
                                       "Signature keyId=\"a\"",
                                       "Hawk id=\"a\"",
                                       "DPoP abc",
                                       "dpop\tabc",
                                       "Negotiate YIIJ",
                                       "NTLM TlRM",
                                       "HOBA result=\"a\"",
                                       "Mutual realm=\"a\"",
                                       "SCRAM-SHA-256 data=a",
                                       "PrivateToken token=\"a\"",
                                       "Concealed k=a",
                                       "MAC id=\"a\"",
                                       "hmac username=\"a\"",
                                       "AWS AKIA:c2ln",
                                       "SharedKey account:c2ln",
                                       "SharedKeyLite account:c2ln",
                                       "GOOG1 GOOG:c2ln",
                                       "GOOG4-RSA-SHA256 Credential=a",
                                       "GOOG4-HMAC-SHA256 Credential=a",
                                       "HMAC-SHA256 Credential=a",
                                       "EMS-HMAC-SHA256 Credential=a",
                                       "SDK-HMAC-SHA256 Access=a",
                                       "tc3-hmac-sha256 Credential=a",
                                       "EG1-HMAC-SHA256 client_token=a",
                                       "WECHATPAY2-SHA256-RSA2048 mchid=\"a\""})
    EXPECT_TRUE(refused({"credential"}, request().header("Authorization", value))) << value;
  EXPECT_TRUE(refused({"credential"}, request().header("Authorization", "Bearer a").header("Authorization", "Hawk b")));
  EXPECT_TRUE(refused({"credential"}, request().header("Authorization", "Hawk b").header("X-Api-Key", "a")));
}

TEST(credential_scope, an_authorization_that_stays_is_taken) {
  for (const std::string_view value :
       {"Bearer abc", "Basic abc", "Token abc", "OAuth2 abc", "HawkEye a", "AWS3 x", "abc", "GNAP abc", "vapid t=a",
        "SharedAccessSignature sr=a", "ApiKey abc", "MACK a", "HMACK a", "Bearer -HMAC-", "key-HMAC-x"})
    EXPECT_FALSE(refused({"credential"}, request().header("Authorization", value))) << value;
}

TEST(credential_scope, nothing_is_refused_without_it) {
  EXPECT_FALSE(refused({"const:x"}, request().header("Cookie", "a=1").header("Authorization", "Hawk b")));
  EXPECT_FALSE(refused({}, request().header("Cookie", "a=1")));
}

TEST(header_scope, all_lines_count_in_their_order) {
  const std::set<std::string> names = {
      name_with({"header:Tenant"}, request()),
      name_with({"header:Tenant"}, request().header("tenant", "")),
      name_with({"header:Tenant"}, request().header("tenant", "a")),
      name_with({"header:Tenant"}, request().header("tenant", "a").header("Tenant", "b")),
      name_with({"header:Tenant"}, request().header("tenant", "b").header("Tenant", "a")),
      name_with({"header:Tenant"}, request().header("tenant", "a").header("Tenant", "c")),
      name_with({"header:Tenant"}, request().header("tenant", "a, b")),
  };
  EXPECT_EQ(names.size(), 7u);
  EXPECT_EQ(name_with({"header:Tenant"}, request().header("tenant", "a")),
            name_with({"header:Tenant"}, request().header("TENANT", "a")));
}

TEST(cookie_scope, reads_the_pair_wherever_it_stands) {
  const auto expected = name_with({"cookie:session"}, request().header("Cookie", "session=1"));
  EXPECT_EQ(expected, name_with({"cookie:session"}, request().header("cookie", "a=2; session=1;b=3")));
  EXPECT_EQ(expected, name_with({"cookie:session"}, request().header("Cookie", "a=2").header("Cookie", "session=1")));
  EXPECT_NE(expected, name_with({"cookie:session"}, request().header("Cookie", "session=2")));
  EXPECT_NE(expected, name_with({"cookie:session"}, request().header("Cookie", "session=1; session=2")));
  EXPECT_NE(expected, name_with({"cookie:session"}, request()));
  const auto absent = name_with({"cookie:session"}, request());
  EXPECT_EQ(absent, name_with({"cookie:session"}, request().header("Cookie", "SESSION=1; xsession=1; session")));
}

TEST(path_scope, reads_what_the_template_captured) {
  EXPECT_NE(name_with({"path:{account}"}, request().capture("account", "1")),
            name_with({"path:{account}"}, request().capture("account", "2")));
  EXPECT_EQ(name_with({"path:{account}"}, request().capture("other", "1")), name_with({"path:{account}"}, request()));
}

TEST(constant_scope, is_the_same_for_everybody_and_none_of_them_absent) {
  EXPECT_EQ(name_with({"const:x"}, request()), name_with({"const:x"}, request().header("Authorization", "Bearer a")));
  EXPECT_NE(name_with({"const:x"}, request()), name_with({"const:y"}, request()));
}

}  // namespace
}  // namespace idem::idempotency
