// Tokens: an arbitrary one never verifies, and an arbitrary payload that is signed gives only claims that stand in it
// once.
#include <cstdint>
#include <string>

#include "config/jwks.hpp"
#include "fuzz/check.hpp"
#include "fuzz/input.hpp"
#include "idem/idempotency/bearer_token.hpp"
#include "idem/text/base64.hpp"
#include "idempotency/hmac_sha256.hpp"
#include "idempotency/token_claims.hpp"
#include "support/tokens.hpp"

namespace {

using namespace idem;
using namespace idem::idempotency;
using fuzz::check;
using test::base64url;

const std::string secret = "0123456789abcdef0123456789abcdef";

config::jwt_config make_settings() {
  config::jwt_config c;
  c.keys = config::hmac_keys(secret);
  return c;
}

void check_base64(std::string_view text) {
  const auto bytes = text::decode_base64(text, text::base64_alphabet::url);
  if (bytes) check(base64url(*bytes) == text, "bytes have one text only");
  const auto again = text::decode_base64(base64url(text), text::base64_alphabet::url);
  check(again && *again == text, "what is encoded decodes");
}

// The fuzzer cannot know the secret, so whatever it makes up is refused; and so is each change of a good token.
void check_forged(const config::jwt_config& settings, std::string_view token) {
  check(check_token(settings, token, 1'800'000'000).fault != token_fault::none, "a made-up token does not verify");
}

void check_signed(const config::jwt_config& settings, std::string_view header, std::string_view claims) {
  const std::string text = base64url(header) + "." + base64url(claims);
  const std::string token = text + "." + base64url(hmac_sha256(secret, {text}));
  const auto checked = check_token(settings, token, 1'800'000'000);
  if (checked.fault != token_fault::none) return;
  const auto object = parse_token_object(claims);
  check(object.has_value(), "claims are an object");
  for (const auto& [name, value] : checked.token.scalars) {
    const auto* member = object->find(name);
    check(member && member->text == value && !value.empty(), "a claim is a member of the object");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const config::jwt_config settings = make_settings();
  const fuzz::exact_copy copy({reinterpret_cast<const char*>(data), size});
  std::string_view text = copy.view();
  check_base64(text);
  check_forged(settings, text);
  check_signed(settings, R"({"alg":"HS256"})", text);
  const std::string_view header = fuzz::take_line(text);
  check_signed(settings, header, text);
  (void)config::parse_jwks(copy.view());
  return 0;
}
