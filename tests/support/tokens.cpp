#include "support/tokens.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include <chrono>
#include <stdexcept>

namespace idem::test {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("OpenSSL: ") + what);
}

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

EVP_PKEY* generate(const std::string& algorithm) {
  if (algorithm == "RS256") return EVP_RSA_gen(2048);
  if (algorithm == "ES256") return EVP_EC_gen("P-256");
  return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
}

std::string number(const EVP_PKEY* key, const char* name, int size = 0) {
  BIGNUM* n = nullptr;
  require(EVP_PKEY_get_bn_param(key, name, &n) == 1, name);
  std::string out(static_cast<std::size_t>(size ? size : BN_num_bytes(n)), '\0');
  BN_bn2binpad(n, reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size()));
  BN_free(n);
  return out;
}

std::string raw_of_der(const std::string& der) {
  const unsigned char* at = bytes(der);
  ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
  std::string out(64, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(pair), to, 32);
  BN_bn2binpad(ECDSA_SIG_get0_s(pair), to + 32, 32);
  ECDSA_SIG_free(pair);
  return out;
}

}  // namespace

std::string base64(std::string_view text) {
  std::string out((text.size() + 2) / 3 * 4 + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes(text), static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::string base64url(std::string_view text) {
  std::string out = base64(text);
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

std::string hex(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string hmac(std::string_view key, std::string_view text) {
  std::string out(32, '\0');
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes(text), text.size(),
       reinterpret_cast<unsigned char*>(out.data()), &size);
  return out;
}

signing_key::signing_key(std::string algorithm, std::string id)
    : algorithm_(std::move(algorithm)),
      id_(std::move(id)),
      key_(generate(algorithm_), [](EVP_PKEY* k) { EVP_PKEY_free(k); }) {
  require(key_ != nullptr, "no key");
}

std::string signing_key::jwk() const {
  std::string out = "{";
  if (!id_.empty()) out += "\"kid\":\"" + id_ + "\",";
  if (algorithm_ == "RS256") {
    return out + "\"kty\":\"RSA\",\"n\":\"" + base64url(number(key_.get(), OSSL_PKEY_PARAM_RSA_N)) + "\",\"e\":\"" +
           base64url(number(key_.get(), OSSL_PKEY_PARAM_RSA_E)) + "\"}";
  }
  if (algorithm_ == "ES256") {
    return out + "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" +
           base64url(number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, 32)) + "\",\"y\":\"" +
           base64url(number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, 32)) + "\"}";
  }
  std::string raw(32, '\0');
  std::size_t size = raw.size();
  require(EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(raw.data()), &size) == 1, "raw key");
  return out + "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" + base64url(raw) + "\"}";
}

std::string signing_key::sign(std::string_view text) const {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const EVP_MD* digest = algorithm_ == "EdDSA" ? nullptr : EVP_sha256();
  require(EVP_DigestSignInit(context, nullptr, digest, nullptr, key_.get()) == 1, "sign");
  std::size_t size = 0;
  EVP_DigestSign(context, nullptr, &size, bytes(text), text.size());
  std::string out(size, '\0');
  require(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(out.data()), &size, bytes(text), text.size()) == 1,
          "sign");
  out.resize(size);
  EVP_MD_CTX_free(context);
  return algorithm_ == "ES256" ? raw_of_der(out) : out;
}

std::string signing_key::token(std::string_view claims) const {
  const std::string header = "{\"alg\":\"" + algorithm_ + "\"" + (id_.empty() ? "" : ",\"kid\":\"" + id_ + "\"") + "}";
  return token_of(header, claims, sign(base64url(header) + "." + base64url(claims)));
}

std::string jwks(std::initializer_list<const signing_key*> keys) {
  std::string out;
  for (const signing_key* key : keys) out += (out.empty() ? "" : ",") + key->jwk();
  return "{\"keys\":[" + out + "]}";
}

std::string hs256_token(std::string_view secret, std::string_view claims) {
  const std::string header = R"({"alg":"HS256","typ":"JWT"})";
  return token_of(header, claims, hmac(secret, base64url(header) + "." + base64url(claims)));
}

std::string token_of(std::string_view header, std::string_view claims, std::string_view signature) {
  return base64url(header) + "." + base64url(claims) + "." + base64url(signature);
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace idem::test
