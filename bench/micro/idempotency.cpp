// What one request costs between its head and the store: key, name, fingerprint, record.
#include "idem/idempotency/engine.hpp"
#include "idem/idempotency/fingerprint.hpp"
#include "idem/idempotency/identity.hpp"
#include "idem/idempotency/key.hpp"
#include "idem/idempotency/record.hpp"
#include "operation.hpp"
#include "samples.hpp"

namespace idem::bench {
namespace {

using namespace idempotency;
using config::body_mode;
using config::fingerprint_config;

http::request_head head_of(std::string_view content_type) {
  http::request_head head;
  head.method = "POST";
  head.authority = "api.example.com";
  head.path = head.target = "/v1/charges";
  const auto add = [&](std::string_view name, std::string_view value) {
    head.fields.push_back({name, value, http::field_id_of(name), false});
  };
  add("Host", head.authority);
  add("User-Agent", "shop/2.1 (linux; x86_64)");
  add("Accept", "application/json");
  add("Accept-Encoding", "gzip, deflate");
  add("Authorization", "Bearer c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0");
  add("Content-Type", content_type);
  add("Content-Length", "300");
  add("Idempotency-Key", "\"5f0c2f4e-9a1b-4c7d-8e3f-0a1b2c3d4e5f\"");
  return head;
}

// -- fingerprint ------------------------------------------------------------------------------------------------------

action fingerprint_of(body_mode mode, std::string_view content_type, std::string body,
                      std::vector<std::string> exclude = {}, std::vector<std::string> include = {}) {
  fingerprint_config settings;
  settings.body = mode;
  settings.exclude = std::move(exclude);
  settings.include = std::move(include);
  const auto kept = std::make_shared<const config::fingerprint_config>(std::move(settings));
  return [kept, prepared = prepared_settings(*kept), head = head_of(content_type), body = std::move(body)] {
    const config::path_captures captures;
    const request_view request{&head, &captures, body, true};
    auto print = compute_fingerprint(prepared, request);
    keep(print);
  };
}

constexpr std::string_view json_type = "application/json", form_type = "application/x-www-form-urlencoded";
constexpr std::size_t small = 300, large = 16 * 1024;

const listed fingerprints[] = {
    {"fingerprint/none", [] { return fingerprint_of(body_mode::none, json_type, json_body(small)); }},
    {"fingerprint/raw_300", [] { return fingerprint_of(body_mode::raw, json_type, json_body(small)); }},
    {"fingerprint/raw_16k", [] { return fingerprint_of(body_mode::raw, json_type, json_body(large)); }},
    {"fingerprint/auto_300", [] { return fingerprint_of(body_mode::automatic, json_type, json_body(small)); }},
    {"fingerprint/auto_16k", [] { return fingerprint_of(body_mode::automatic, json_type, json_body(large)); }},
    {"fingerprint/json_300", [] { return fingerprint_of(body_mode::json, json_type, json_body(small)); }},
    {"fingerprint/json_16k", [] { return fingerprint_of(body_mode::json, json_type, json_body(large)); }},
    {"fingerprint/json_exclude_300",
     [] {
       return fingerprint_of(body_mode::json, json_type, json_body(small), {"/metadata/timestamp", "/items/*/gift"});
     }},
    {"fingerprint/json_exclude_16k",
     [] {
       return fingerprint_of(body_mode::json, json_type, json_body(large), {"/metadata/timestamp", "/items/*/gift"});
     }},
    {"fingerprint/json_include_300",
     [] { return fingerprint_of(body_mode::json, json_type, json_body(small), {}, {"/customer", "/items/*/sku"}); }},
    {"fingerprint/json_include_16k",
     [] { return fingerprint_of(body_mode::json, json_type, json_body(large), {}, {"/customer", "/items/*/sku"}); }},
    {"fingerprint/form_300", [] { return fingerprint_of(body_mode::form, form_type, form_body(small)); }},
    {"fingerprint/form_16k", [] { return fingerprint_of(body_mode::form, form_type, form_body(large)); }},
    {"fingerprint/form_exclude_300",
     [] { return fingerprint_of(body_mode::form, form_type, form_body(small), {"timestamp"}); }},
    {"fingerprint/form_exclude_16k",
     [] { return fingerprint_of(body_mode::form, form_type, form_body(large), {"timestamp"}); }},
    {"fingerprint/multipart_300",
     [] { return fingerprint_of(body_mode::multipart, multipart_type, multipart_body(small)); }},
    {"fingerprint/multipart_16k",
     [] { return fingerprint_of(body_mode::multipart, multipart_type, multipart_body(large)); }},
};

// -- key and name -----------------------------------------------------------------------------------------------------

action parse(std::string line, key_syntax syntax) {
  return [line = std::move(line), syntax] {
    const std::string_view lines[] = {line};
    auto key = parse_key(lines, syntax);
    require(key.ok);
    keep(key);
  };
}

/// With the defaults: the key of Idempotency-Key, the scope of the credential.
action identify_request() {
  config::idempotency_config route;
  using kind = config::source::kind;
  route.key.from = {{{kind::header, "Idempotency-Key", "header:Idempotency-Key"}}};
  route.scope = {{kind::credential, "", "credential"}};
  return [route, head = head_of(json_type)] {
    const config::path_captures captures;
    auto who = identify(route, "idem:", request_view{&head, &captures, {}, false});
    require(who.kind == identity_kind::keyed);
    keep(who);
  };
}

const listed keys[] = {
    {"key/string", [] { return parse('"' + std::string(uuid) + '"', {}); }},
    {"key/string_with_parameters", [] { return parse('"' + std::string(uuid) + "\";a=1;b=\"two\"", {}); }},
    {"key/bare", [] { return parse(std::string(uuid), {}); }},
    {"key/uuid_strict", [] { return parse('"' + std::string(uuid) + '"', {255, true, true}); }},
    {"key/identify", identify_request},
};

// -- record -----------------------------------------------------------------------------------------------------------

constexpr std::string_view header_block =
    "Created\r\nServer: uvicorn\r\nDate: Sun, 29 Nov 2026 12:00:00 GMT\r\nContent-Type: application/json\r\n"
    "Location: /v1/charges/ch_3MmlLrLkdIwHu7ix0snN0B15\r\nCache-Control: no-store\r\n";

/// `body` must outlive it.
record sample(std::string_view body) {
  record r;
  r.state = body.empty() ? record_state::processing : record_state::succeeded;
  r.owner.token.fill('a');
  r.lease = std::chrono::seconds(15);
  r.hold = r.retention = std::chrono::hours(24);
  r.created = 1764417600000;
  r.fingerprint.digest.fill(0x5a);
  r.fingerprint.version = fingerprint_version;
  r.fingerprint.settings = 0xdeadbeef;
  if (!body.empty()) {
    r.status = 201;
    r.header_block = header_block;
    r.body = body;
  }
  return r;
}

action encode_record(std::string body) {
  return [body = std::move(body), out = std::string()]() mutable {
    out.clear();
    encode_to(out, sample(body));
    keep(out);
  };
}

action decode_record(const std::string& body) {
  return [text = encode(sample(body))] {
    auto found = decode(text);
    require(found.result == decode_result::ok);
    keep(found);
  };
}

const listed records[] = {
    {"record/encode_processing", [] { return encode_record({}); }},
    {"record/encode_150", [] { return encode_record(std::string(150, 'x')); }},
    {"record/encode_16k", [] { return encode_record(std::string(large, 'x')); }},
    {"record/decode_processing", [] { return decode_record({}); }},
    {"record/decode_150", [] { return decode_record(std::string(150, 'x')); }},
    {"record/decode_16k", [] { return decode_record(std::string(large, 'x')); }},
};

}  // namespace
}  // namespace idem::bench
