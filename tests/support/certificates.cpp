#include "support/certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace idem::test {
namespace {

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using certificate_ptr = std::unique_ptr<X509, decltype(&X509_free)>;

key_ptr make_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

void extend(X509* certificate, int kind, const std::string& text) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  auto* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, text.c_str());
  if (!extension) throw std::runtime_error("extension " + text);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

certificate_ptr make(EVP_PKEY* key, const std::string& name, long serial, X509* issuer, EVP_PKEY* issuer_key) {
  certificate_ptr c(X509_new(), &X509_free);
  X509_set_version(c.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(c.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(c.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(c.get()), 86400);
  X509_set_pubkey(c.get(), key);
  auto* subject = X509_get_subject_name(c.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(c.get(), issuer ? X509_get_subject_name(issuer) : subject);
  extend(c.get(), NID_basic_constraints, issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
  if (issuer) extend(c.get(), NID_subject_alt_name, "DNS:" + name);
  if (!X509_sign(c.get(), issuer_key, EVP_sha256())) throw std::runtime_error("signing");
  return c;
}

std::string write_certificate(const std::string& path, X509* c) {
  auto* file = std::fopen(path.c_str(), "w");
  if (!file || !PEM_write_X509(file, c)) throw std::runtime_error(path);
  std::fclose(file);
  return path;
}

std::string write_key(const std::string& path, EVP_PKEY* key) {
  auto* file = std::fopen(path.c_str(), "w");
  if (!file || !PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr)) throw std::runtime_error(path);
  std::fclose(file);
  return path;
}

}  // namespace

certificates make_certificates(const temporary_folder& folder, const std::string& dns_name, const std::string& name) {
  const auto ca_key = make_key(), key = make_key();
  const auto ca = make(ca_key.get(), name + " test CA", 1, nullptr, ca_key.get());
  const auto leaf = make(key.get(), dns_name, 2, ca.get(), ca_key.get());
  const auto base = (folder.path() / name).string();
  return {write_certificate(base + "-ca.pem", ca.get()), write_certificate(base + ".pem", leaf.get()),
          write_key(base + "-key.pem", key.get())};
}

}  // namespace idem::test
