#include "idempotency/token_signature.hpp"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <string>

#include "idem/memory/freed_by.hpp"
#include "idempotency/hmac_sha256.hpp"

namespace idem::idempotency {
namespace {

using config::jwt_algorithm;

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

/// OpenSSL takes r and s as a sequence in DER.
std::string der_of(std::string_view signature) {
  constexpr std::size_t half = 32;
  if (signature.size() != 2 * half) return {};
  const memory::owned_by_c<ECDSA_SIG, ECDSA_SIG_free> pair(ECDSA_SIG_new());
  BIGNUM* r = BN_bin2bn(bytes(signature), half, nullptr);
  BIGNUM* s = BN_bin2bn(bytes(signature.substr(half)), half, nullptr);
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return {};
  }
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  std::string out;
  if (size > 0) out.assign(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

bool verify(EVP_PKEY* key, const EVP_MD* digest, std::string_view text, std::string_view signature) {
  const memory::owned_by_c<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  const bool good = context && EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key) == 1 &&
                    EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(text), text.size()) == 1;
  // what failed here must not be found in the queue by TLS on this thread
  ERR_clear_error();
  return good;
}

}  // namespace

std::optional<jwt_algorithm> algorithm_of(std::string_view name) {
  if (name == "RS256") return jwt_algorithm::rs256;
  if (name == "ES256") return jwt_algorithm::es256;
  if (name == "EdDSA") return jwt_algorithm::eddsa;
  if (name == "HS256") return jwt_algorithm::hs256;
  return std::nullopt;
}

bool signature_matches(const config::verification_key& key, std::string_view signed_text, std::string_view signature) {
  switch (key.algorithm) {
    case jwt_algorithm::rs256: return verify(key.key.get(), EVP_sha256(), signed_text, signature);
    case jwt_algorithm::eddsa: return verify(key.key.get(), nullptr, signed_text, signature);
    case jwt_algorithm::hs256: return equal_in_constant_time(hmac_sha256(key.secret, {signed_text}), signature);
    case jwt_algorithm::es256: {
      const std::string der = der_of(signature);
      return !der.empty() && verify(key.key.get(), EVP_sha256(), signed_text, der);
    }
  }
  return false;
}

}  // namespace idem::idempotency
