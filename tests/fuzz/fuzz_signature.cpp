// Signatures of callbacks. The first byte chooses the scheme; three lines follow, which are the values of its fields,
// and then the body.
//
// What the fuzzer makes up is refused, whatever the fields hold. What is signed with the secret is accepted within the
// tolerance, also beside another signature, and refused when anything that is signed is another or comes twice.
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/check.hpp"
#include "fuzz/input.hpp"
#include "idem/idempotency/webhook_signature.hpp"
#include "support/tokens.hpp"

namespace {

using namespace idem;
using namespace idem::idempotency;
using config::signature_scheme;
using fuzz::check;

constexpr signature_scheme schemes[] = {signature_scheme::standard_webhooks, signature_scheme::stripe,
                                        signature_scheme::github, signature_scheme::shopify, signature_scheme::slack};
constexpr std::int64_t now = 1'800'000'000;
constexpr std::int64_t tolerance = 300;

const std::string secret = "0123456789abcdef0123456789abcdef";

/// A callback: the values of its scheme's fields, in the order in which signature_fields() names them.
struct callback {
  signature_scheme scheme;
  std::vector<std::string> values;
  std::string body;
};

std::optional<std::string_view> fault_of(const callback& c, std::size_t twice = std::string::npos) {
  config::signature_config settings;
  settings.scheme = c.scheme;
  settings.secret = secret;
  settings.tolerance = std::chrono::seconds(tolerance);
  const auto names = signature_fields(c.scheme);
  http::request_head head;
  for (std::size_t i = 0; i < names.size(); ++i) {
    head.fields.push_back({names[i], c.values[i], http::field_id::other, false});
    if (i == twice) head.fields.push_back(head.fields.back());
  }
  return signature_fault(settings, head, c.body, now);
}

bool accepted(const callback& c) { return !fault_of(c); }

/// What a sender does who knows the secret.
callback sign(signature_scheme scheme, const std::string& id, const std::string& time, const std::string& body) {
  const auto mac = [](const std::string& text) { return test::hmac(secret, text); };
  switch (scheme) {
    case signature_scheme::standard_webhooks:
      return {scheme, {id, time, "v1," + test::base64(mac(id + "." + time + "." + body))}, body};
    case signature_scheme::stripe: return {scheme, {"t=" + time + ",v1=" + test::hex(mac(time + "." + body))}, body};
    case signature_scheme::slack: return {scheme, {time, "v0=" + test::hex(mac("v0:" + time + ":" + body))}, body};
    case signature_scheme::github: return {scheme, {"sha256=" + test::hex(mac(body))}, body};
    default: return {scheme, {test::base64(mac(body))}, body};
  }
}

bool signs_time(signature_scheme s) { return s != signature_scheme::github && s != signature_scheme::shopify; }

void check_forged(signature_scheme scheme, const std::vector<std::string>& lines, std::string_view body) {
  callback made_up{scheme, lines, std::string(body)};
  made_up.values.resize(signature_fields(scheme).size());
  const auto fault = fault_of(made_up);
  check(fault && !fault->empty(), "what is made up is refused, for a reason");
}

void check_changed(callback c, const std::string& what) {
  check(accepted(c), "what is signed is accepted");
  const std::size_t position = what.empty() ? 0 : static_cast<unsigned char>(what[0]);
  for (std::string* part : {&c.body, &c.values.back(), &c.values.front()}) {
    if (part->empty()) continue;
    const callback whole = c;
    char& changed = (*part)[position % part->size()];
    changed = static_cast<char>(changed ^ 1);
    check(!accepted(c), "a change of what is signed, or of the signature, is refused");
    c = whole;
  }
}

void check_signed(signature_scheme scheme, const std::string& id, const std::string& time, const std::string& body) {
  const callback c = sign(scheme, id, time, body);
  for (std::size_t i = 0; i < c.values.size(); ++i)
    check(fault_of(c, i).has_value(), "a field that comes twice has two readings");
  check_changed(c, id);
  if (scheme == signature_scheme::stripe || scheme == signature_scheme::standard_webhooks) {
    callback rotated = c;
    const bool stripe = scheme == signature_scheme::stripe;
    rotated.values.back() = stripe ? "v1=" + std::string(64, 'a') + "," + c.values[0] + ",v0=1"
                                   : "v1," + test::base64(std::string(32, 'a')) + " " + c.values[2] + " v2,x";
    check(accepted(rotated), "one good signature among several is enough");
  }
  if (!signs_time(scheme)) return;
  for (const std::int64_t apart : {-tolerance - 1, -tolerance, tolerance, tolerance + 1}) {
    const bool near = apart >= -tolerance && apart <= tolerance;
    check(accepted(sign(scheme, id, std::to_string(now + apart), body)) == near, "only a time that is near is taken");
  }
}

/// A value of a field as the message gate lets it through.
bool is_value(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x21 || c == 0x7f) return false;
  return !text.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const signature_scheme scheme = schemes[data[0] % std::size(schemes)];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> lines;
  for (int i = 0; i < 3; ++i) lines.emplace_back(fuzz::take_line(rest));
  check_forged(scheme, lines, rest);
  const std::string body(rest), id = is_value(lines[0]) ? lines[0] : "msg_1";
  check_signed(scheme, id, std::to_string(now), body);
  // a time that is no number is not near, however it is signed
  const callback odd = sign(scheme, id, lines[1], body);
  if (signs_time(scheme) && lines[1] != std::to_string(now))
    check(!accepted(odd) || lines[1].find_first_not_of("0123456789") == std::string::npos, "a time is a number");
  return 0;
}
