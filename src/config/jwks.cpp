#include "config/jwks.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "idem/memory/freed_by.hpp"
#include "idem/text/base64.hpp"

namespace idem::config {
namespace {

namespace json = boost::json;

constexpr std::size_t max_keys = 64;
constexpr int min_rsa_bits = 2048;
constexpr std::size_t coordinate_size = 32;  // of P-256 and of Ed25519

using number_ptr = memory::owned_by_c<BIGNUM, BN_free>;
using builder_ptr = memory::owned_by_c<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using params_ptr = memory::owned_by_c<OSSL_PARAM, OSSL_PARAM_free>;
using context_ptr = memory::owned_by_c<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using pkey = std::shared_ptr<evp_pkey_st>;

pkey owned(EVP_PKEY* key) {
  return key ? pkey(key, [](EVP_PKEY* k) { EVP_PKEY_free(k); }) : nullptr;
}

std::string text_of(const json::object& key, json::string_view name) {
  const json::value* value = key.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string().data(), value->get_string().size())
                                     : std::string();
}

std::string bytes_of(const json::object& key, json::string_view name) {
  return text::decode_base64(text_of(key, name), text::base64_alphabet::url).value_or("");
}

number_ptr number_of(const std::string& bytes) {
  return number_ptr(
      BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), nullptr));
}

/// The public key that `builder` describes, if there can be such a key.
pkey make_key(const char* type, OSSL_PARAM_BLD* builder) {
  const params_ptr params(OSSL_PARAM_BLD_to_param(builder));
  const context_ptr context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* made = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) {
    return nullptr;
  }
  pkey key = owned(made);
  const context_ptr check(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  return check && EVP_PKEY_public_check(check.get()) == 1 ? key : nullptr;
}

pkey rsa_key(const json::object& object) {
  const std::string modulus = bytes_of(object, "n"), exponent = bytes_of(object, "e");
  if (modulus.empty() || modulus.size() > 2048 || exponent.empty() || exponent.size() > 8) return nullptr;
  const number_ptr n = number_of(modulus), e = number_of(exponent);
  const builder_ptr builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || BN_num_bits(n.get()) < min_rsa_bits ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return make_key("RSA", builder.get());
}

pkey p256_key(const json::object& object) {
  const std::string x = bytes_of(object, "x"), y = bytes_of(object, "y");
  if (x.size() != coordinate_size || y.size() != coordinate_size) return nullptr;
  const std::string point = '\x04' + x + y;  // SEC 1 §2.3.3, uncompressed
  const builder_ptr builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1) {
    return nullptr;
  }
  return make_key("EC", builder.get());
}

pkey ed25519_key(const json::object& object) {
  const std::string x = bytes_of(object, "x");
  if (x.size() != coordinate_size) return nullptr;
  return owned(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(x.data()),
                                           x.size()));
}

bool verifies(const json::object& key) {
  if (const std::string use = text_of(key, "use"); !use.empty() && use != "sig") return false;
  const json::value* operations = key.if_contains("key_ops");
  if (!operations || !operations->is_array()) return true;
  return std::any_of(operations->get_array().begin(), operations->get_array().end(),
                     [](const json::value& v) { return v.is_string() && v.get_string() == "verify"; });
}

struct key_type {
  jwt_algorithm algorithm;
  std::string_view name;
  pkey (*make)(const json::object&);
};

std::optional<key_type> type_of(const json::object& key) {
  const std::string type = text_of(key, "kty"), curve = text_of(key, "crv");
  if (type == "RSA") return key_type{jwt_algorithm::rs256, "RS256", rsa_key};
  if (type == "EC" && curve == "P-256") return key_type{jwt_algorithm::es256, "ES256", p256_key};
  if (type == "OKP" && curve == "Ed25519") return key_type{jwt_algorithm::eddsa, "EdDSA", ed25519_key};
  return std::nullopt;
}

}  // namespace

parsed<std::shared_ptr<const jwt_keys>> parse_jwks(std::string_view text) {
  using result = parsed<std::shared_ptr<const jwt_keys>>;
  json::error_code error;
  const json::value document = json::parse({text.data(), text.size()}, error);
  const json::value* list = !error && document.is_object() ? document.get_object().if_contains("keys") : nullptr;
  if (!list || !list->is_array()) return result::fail("is no JSON Web Key Set, expected {\"keys\": [ … ]}");
  const json::array& entries = list->get_array();
  if (entries.size() > max_keys) return result::fail("has more than 64 keys");
  auto keys = std::make_shared<jwt_keys>();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].is_object()) return result::fail("has a key that is no object: keys[" + std::to_string(i) + "]");
    const json::object& entry = entries[i].get_object();
    const auto type = type_of(entry);
    if (!type || !verifies(entry)) continue;
    if (const std::string named = text_of(entry, "alg"); !named.empty() && named != type->name) continue;
    pkey key = type->make(entry);
    ERR_clear_error();
    if (!key) {
      return result::fail("has a key that cannot be used: keys[" + std::to_string(i) +
                          "], expected RSA of at least 2048 bits, P-256 or Ed25519");
    }
    keys->keys.push_back({type->algorithm, text_of(entry, "kid"), std::move(key), {}});
  }
  if (keys->keys.empty()) return result::fail("has no key for RS256, ES256 or EdDSA");
  return result(std::move(keys));
}

std::shared_ptr<const jwt_keys> hmac_keys(std::string secret) {
  auto keys = std::make_shared<jwt_keys>();
  keys->keys.push_back({jwt_algorithm::hs256, {}, nullptr, std::move(secret)});
  return keys;
}

}  // namespace idem::config
