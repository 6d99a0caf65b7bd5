#include "idempotency/answer_predicate.hpp"

#include "idempotency/json_lookup.hpp"
#include "idempotency/xml_lookup.hpp"

namespace idem::idempotency {
namespace {

bool is(const lookup_result& found, std::string_view expected) {
  return found.result == lookup::found && found.value == expected;
}

}  // namespace

bool satisfies(const config::body_condition& condition, std::string_view body) {
  switch (condition.type) {
    case config::body_condition::kind::none: return true;
    case config::body_condition::kind::equals: return body == condition.expected;
    case config::body_condition::kind::json: return is(find_in_json(body, condition.path), condition.expected);
    case config::body_condition::kind::xml: return is(find_in_xml(body, condition.path), condition.expected);
  }
  return false;
}

}  // namespace idem::idempotency
