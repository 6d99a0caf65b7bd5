#include "idem/idempotency/own_fields.hpp"

#include <gtest/gtest.h>

#include "request.hpp"

namespace idem::idempotency {
namespace {

using testing::request;
using testing::source;

bool hidden(const config::idempotency_config& route, std::string_view connection) {
  return connection_names_own_field(route, *request().header("Connection", connection).view().head);
}

TEST(own_fields, of_any_alternative_of_the_key_and_of_the_scope_may_not_be_named) {
  config::idempotency_config route;
  route.key.from = {{source("header:Idempotency-Key")}, {source("json:/id"), source("header:X-Request-Id")}};
  route.scope = {source("credential"), source("header:X-Tenant")};
  for (std::string_view connection : {"X-Request-Id", "close, x-request-id", ",X-TENANT\t,", "x-tenant"})
    EXPECT_TRUE(hidden(route, connection)) << connection;
  for (std::string_view connection : {"close", "keep-alive", "X-Request", "X-Tenant-Id", "X-Request-Id;x", "id", ""})
    EXPECT_FALSE(hidden(route, connection)) << connection;
  EXPECT_FALSE(connection_names_own_field(route, *request().header("X-Request-Id", "1").view().head));
  EXPECT_TRUE(connection_names_own_field(
      route, *request().header("Connection", "close").header("Connection", "X-Tenant").view().head));
}

TEST(own_fields, of_a_signature_may_not_be_named_where_it_is_verified) {
  using scheme = config::signature_scheme;
  const std::pair<scheme, std::string_view> table[] = {{scheme::standard_webhooks, "Webhook-Timestamp"},
                                                       {scheme::stripe, "stripe-signature"},
                                                       {scheme::github, "X-Hub-Signature-256"},
                                                       {scheme::shopify, "X-Shopify-Hmac-SHA256"},
                                                       {scheme::slack, "X-Slack-Signature"}};
  for (const auto& [its, name] : table) {
    config::idempotency_config route;
    route.signature.scheme = its;
    EXPECT_FALSE(hidden(route, name)) << name << " without a secret";
    route.signature.secret = "s";
    EXPECT_TRUE(hidden(route, name)) << name;
    EXPECT_FALSE(hidden(route, "X-Other")) << name;
  }
}

}  // namespace
}  // namespace idem::idempotency
