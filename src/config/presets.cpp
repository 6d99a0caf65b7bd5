#include "config/presets.hpp"

#include "config/units.hpp"
#include "config/words.hpp"

namespace idem::config {
namespace {

using scheme = signature_scheme;

constexpr preset all[] = {
    // 15 s twice, 30 s, 3 m, 10 m, 20 m, 30 m three times, 60 m, 3 h three times, 6 h twice
    {"wechat_v2", 24h + 4min, 5s, 4s, scheme::none, R"([["xml:/xml/mch_id", "xml:/xml/transaction_id"]])",
     R"(statuses: [200], body: "xml:/xml/return_code == SUCCESS")"},
    // the same ladder; here the status outranks what the body says
    {"wechat_v3", 24h + 4min, 5s, 4s, scheme::none, R"(["json:/id"])", "statuses: [200, 204]"},
    // eight sends; events of one trade share its number, so only notify_id tells them apart
    {"alipay", 25h, 5s, 4s, scheme::none, R"(["form:notify_id"])", "statuses: [200], body_equals: success"},
    {"stripe", 72h, 10s, 8s, scheme::stripe, R"(["json:/id"])", "statuses: [2xx]"},
    // nothing is sent again but by hand, with the same id: what failed must be free then
    {"github", 0s, 10s, 8s, scheme::github, R"(["header:X-GitHub-Delivery"])", "statuses: [2xx]"},
    {"shopify", 4h, 5s, 4s, scheme::shopify, R"(["header:X-Shopify-Webhook-Id"])", "statuses: [200]"},
    {"paypal", 72h, 0s, 5s, scheme::none, R"(["json:/id"])", "statuses: [2xx]"},
    // at once, after 1 m, after 5 m; a time-out is repeated while the first try still runs
    {"slack", 6min, 3s, 2s, scheme::slack, R"(["json:/event_id"])", "statuses: [2xx]"},
    // as many as five tries of fifteen seconds
    {"twilio", 75s, 15s, 12s, scheme::none,
     R"(["header:I-Twilio-Idempotency-Token", ["form:MessageSid", "form:MessageStatus"], )"
     R"(["form:CallSid", "form:CallStatus"]])",
     "statuses: [2xx]"},
    {"standard_webhooks", 75h, 15s, 12s, scheme::standard_webhooks, R"(["header:webhook-id"])", "statuses: [2xx]"},
};

/// A day of what is repeated by hand; else as long as it tries, and an hour that a try may be on its way.
std::string retention_of(const preset& p) {
  if (p.tries == 0s) return "24h";
  return "{client_retries: " + show_duration(p.tries) + ", delivery_delay: 1h}";
}

}  // namespace

std::span<const preset> presets() { return all; }

std::string block_of(const preset& p) {
  std::string yaml;
  const auto add = [&yaml](std::string_view key, const std::string& value) {
    ((yaml += key) += ": ").append(value) += '\n';
  };
  add("key", "{from: " + std::string(p.from) + ", required: false, max_length: 255, format: any, strict: false}");
  add("scope", "[\"const:" + std::string(p.name) + "\"]");
  // signatures and times differ from try to try, so a request is told by its key alone
  add("fingerprint", "{body: none, headers: [], query: false, exclude: [], include: []}");
  // a sender repeats what it has no good answer to, and an outcome that is not known is such a case
  add("guarantee", "at_least_once");
  add("statuses", "{final: [], release: [], unknown: []}");
  add("answer", "{success: {" + std::string(p.success) + "}}");
  add("retention", retention_of(p));
  add("in_flight", "{respond: wait, wait: " + show_duration(p.wait) + ", max_waiters: 32}");
  if (p.scheme != scheme::none) add("signature", "{scheme: " + std::string(word_of(p.scheme, scheme_words)) + "}");
  return yaml;
}

}  // namespace idem::config
