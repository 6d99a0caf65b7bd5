#include "idem/idempotency/outcome.hpp"

#include <gtest/gtest.h>

namespace idem::idempotency {
namespace {

using config::disposition;
using config::guarantee;

const config::status_overrides none;

settlement once(unsigned status, const config::status_overrides& o = none) {
  return settle_by_status(status, guarantee::at_most_once, o);
}
settlement again(unsigned status, const config::status_overrides& o = none) {
  return settle_by_status(status, guarantee::at_least_once, o);
}

TEST(outcome, success_and_redirection_are_stored) {
  for (const unsigned status : {200u, 201u, 204u, 299u, 300u, 303u, 304u, 399u}) {
    EXPECT_EQ(once(status), settlement::succeed) << status;
    EXPECT_EQ(again(status), settlement::succeed) << status;
  }
}

TEST(outcome, statuses_that_say_not_executed_free_the_key) {
  for (const unsigned status : {401u, 403u, 407u, 408u, 425u, 429u, 503u}) {
    EXPECT_EQ(once(status), settlement::release) << status;
    EXPECT_EQ(again(status), settlement::release) << status;
  }
}

TEST(outcome, other_client_errors_are_final) {
  for (const unsigned status : {400u, 402u, 404u, 409u, 410u, 418u, 422u, 451u, 499u}) {
    EXPECT_EQ(once(status), settlement::fail) << status;
    EXPECT_EQ(again(status), settlement::fail) << status;
  }
}

TEST(outcome, server_errors_are_replayed_at_most_once_and_released_at_least_once) {
  for (const unsigned status : {500u, 501u, 505u, 507u, 599u}) {
    EXPECT_EQ(once(status), settlement::fail) << status;
    EXPECT_EQ(again(status), settlement::release) << status;
  }
}

TEST(outcome, a_gateway_error_of_the_backend_is_unknown_at_most_once) {
  for (const unsigned status : {502u, 504u}) {
    EXPECT_EQ(once(status), settlement::declare) << status;
    EXPECT_EQ(again(status), settlement::release) << status;
  }
}

TEST(outcome, an_interim_status_is_no_outcome) {
  EXPECT_EQ(once(101), settlement::declare);
  EXPECT_EQ(again(101), settlement::declare);
}

TEST(outcome, a_routes_lists_override_the_table_and_a_code_beats_a_class) {
  config::status_overrides o;
  o.classes[5] = disposition::unknown;
  o.codes[503] = disposition::final;
  o.codes[404] = disposition::release;
  o.codes[201] = disposition::unknown;
  EXPECT_EQ(once(500, o), settlement::declare);
  EXPECT_EQ(again(500, o), settlement::declare);
  EXPECT_EQ(once(503, o), settlement::fail);
  EXPECT_EQ(once(404, o), settlement::release);
  EXPECT_EQ(once(201, o), settlement::declare);
  EXPECT_EQ(once(409, o), settlement::fail);
}

TEST(outcome, final_keeps_success_a_success) {
  config::status_overrides o;
  o.classes[2] = disposition::final;
  o.codes[304] = disposition::final;
  o.codes[401] = disposition::final;
  EXPECT_EQ(once(200, o), settlement::succeed);
  EXPECT_EQ(once(304, o), settlement::succeed);
  EXPECT_EQ(once(401, o), settlement::fail);
}

TEST(outcome, without_an_answer_it_counts_whether_a_byte_was_written) {
  EXPECT_EQ(settle_without_answer(false), settlement::release);
  EXPECT_EQ(settle_without_answer(true), settlement::declare);
}

}  // namespace
}  // namespace idem::idempotency
