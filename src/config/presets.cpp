#include "config/presets.hpp"

namespace idem::config {
namespace {

using scheme = signature_scheme;

constexpr preset all[] = {
    // 15 s twice, 30 s, 3 m, 10 m, 20 m, 30 m three times, 60 m, 3 h three times, 6 h twice
    {"wechat_v2", 24h + 4min, 5s, scheme::none, R"(
key: {from: [["xml:/xml/mch_id", "xml:/xml/transaction_id"]]}
scope: ["const:wechat_v2"]
answer: {success: {statuses: [200], body: "xml:/xml/return_code == SUCCESS"}}
retention: {client_retries: 24h4m, delivery_delay: 1h}
in_flight: {respond: wait, wait: 4s, max_waiters: 32}
)"},
    // the same ladder; here the status outranks what the body says
    {"wechat_v3", 24h + 4min, 5s, scheme::none, R"(
key: {from: ["json:/id"]}
scope: ["const:wechat_v3"]
answer: {success: {statuses: [200, 204]}}
retention: {client_retries: 24h4m, delivery_delay: 1h}
in_flight: {respond: wait, wait: 4s, max_waiters: 32}
)"},
    // eight sends; events of one trade share its number, so only notify_id tells them apart
    {"alipay", 25h, 5s, scheme::none, R"(
key: {from: ["form:notify_id"]}
scope: ["const:alipay"]
answer: {success: {statuses: [200], body_equals: success}}
retention: {client_retries: 25h, delivery_delay: 1h}
in_flight: {respond: wait, wait: 4s, max_waiters: 32}
)"},
    {"stripe", 72h, 10s, scheme::stripe, R"(
key: {from: ["json:/id"]}
scope: ["const:stripe"]
answer: {success: {statuses: [2xx]}}
retention: {client_retries: 72h, delivery_delay: 1h}
in_flight: {respond: wait, wait: 8s, max_waiters: 32}
signature: {scheme: stripe}
)"},
    // nothing is sent again but by hand, with the same id: what failed must be free then
    {"github", 0s, 10s, scheme::github, R"(
key: {from: ["header:X-GitHub-Delivery"]}
scope: ["const:github"]
answer: {success: {statuses: [2xx]}}
retention: 24h
in_flight: {respond: wait, wait: 8s, max_waiters: 32}
signature: {scheme: github}
)"},
    {"shopify", 4h, 5s, scheme::shopify, R"(
key: {from: ["header:X-Shopify-Webhook-Id"]}
scope: ["const:shopify"]
answer: {success: {statuses: [200]}}
retention: {client_retries: 4h, delivery_delay: 1h}
in_flight: {respond: wait, wait: 4s, max_waiters: 32}
signature: {scheme: shopify}
)"},
    {"paypal", 72h, 0s, scheme::none, R"(
key: {from: ["json:/id"]}
scope: ["const:paypal"]
answer: {success: {statuses: [2xx]}}
retention: {client_retries: 72h, delivery_delay: 1h}
in_flight: {respond: wait, wait: 5s, max_waiters: 32}
)"},
    // at once, after 1 m, after 5 m; a time-out is repeated while the first try still runs
    {"slack", 6min, 3s, scheme::slack, R"(
key: {from: ["json:/event_id"]}
scope: ["const:slack"]
answer: {success: {statuses: [2xx]}}
retention: {client_retries: 6m, delivery_delay: 1h}
in_flight: {respond: wait, wait: 2s, max_waiters: 32}
signature: {scheme: slack}
)"},
    // as many as five tries of fifteen seconds
    {"twilio", 75s, 15s, scheme::none, R"(
key:
  from:
    - "header:I-Twilio-Idempotency-Token"
    - ["form:MessageSid", "form:MessageStatus"]
    - ["form:CallSid", "form:CallStatus"]
scope: ["const:twilio"]
answer: {success: {statuses: [2xx]}}
retention: {client_retries: 75s, delivery_delay: 1h}
in_flight: {respond: wait, wait: 12s, max_waiters: 32}
)"},
    {"standard_webhooks", 75h, 15s, scheme::standard_webhooks, R"(
key: {from: ["header:webhook-id"]}
scope: ["const:standard_webhooks"]
answer: {success: {statuses: [2xx]}}
retention: {client_retries: 75h, delivery_delay: 1h}
in_flight: {respond: wait, wait: 12s, max_waiters: 32}
signature: {scheme: standard_webhooks}
)"},
};

}  // namespace

std::span<const preset> presets() { return all; }

}  // namespace idem::config
