#include "idem/idempotency/outcome.hpp"

#include "idempotency/answer_predicate.hpp"

namespace idem::idempotency {
namespace {

bool is_success(unsigned status) { return status >= 200 && status < 400; }

// Statuses by which an application says that it did not execute the request (docs/protocol.md, "What the backend's
// answer becomes"): they leave the key free, so that it is not poisoned by a token that had expired or a full queue.
bool says_not_executed(unsigned status) {
  switch (status) {
    case 401:
    case 403:
    case 407:
    case 408:
    case 425:
    case 429:
    case 503: return true;
    default: return false;
  }
}

settlement by_table(unsigned status, bool at_most_once) {
  if (status < 200) return settlement::declare;  // an interim answer is no outcome
  if (is_success(status)) return settlement::succeed;
  if (says_not_executed(status)) return settlement::release;
  if (status < 500) return settlement::fail;
  if (!at_most_once) return settlement::release;
  // a gateway behind us answers these after it may have sent the request on
  return status == 502 || status == 504 ? settlement::declare : settlement::fail;
}

}  // namespace

settlement settle_by_status(unsigned status, config::guarantee g, const config::status_overrides& overrides) {
  switch (overrides.of(status)) {
    case config::disposition::final: return is_success(status) ? settlement::succeed : settlement::fail;
    case config::disposition::release: return settlement::release;
    case config::disposition::unknown: return settlement::declare;
    case config::disposition::by_table: break;
  }
  return by_table(status, g == config::guarantee::at_most_once);
}

settlement settle_answer(const config::idempotency_config& route, unsigned status,
                         std::optional<std::string_view> body) {
  const config::success_config& success = route.success;
  if (!success.given()) return settle_by_status(status, route.guarantee, route.statuses);
  const config::disposition said = route.statuses.of(status);
  if (said == config::disposition::unknown) return settlement::declare;
  if (said == config::disposition::release || status == 401 || status == 403) return settlement::release;
  if (!success.statuses.contains(status) && said != config::disposition::final) return settlement::release;
  if (success.statuses.contains(status) && body && !satisfies(success.body, *body)) return settlement::release;
  return is_success(status) ? settlement::succeed : settlement::fail;
}

settlement settle_without_answer(bool bytes_written) {
  return bytes_written ? settlement::declare : settlement::release;
}

}  // namespace idem::idempotency
