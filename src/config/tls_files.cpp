#include "config/tls_files.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <optional>

#include "config/file.hpp"
#include "idem/memory/freed_by.hpp"

namespace idem::config {
namespace {

constexpr std::size_t most_bytes = 4 * 1024 * 1024;

using bio_ptr = memory::owned_by_c<BIO, BIO_free>;
using x509_ptr = memory::owned_by_c<X509, X509_free>;
using key_ptr = memory::owned_by_c<EVP_PKEY, EVP_PKEY_free>;
using context_ptr = memory::owned_by_c<SSL_CTX, SSL_CTX_free>;
using store_ptr = memory::owned_by_c<X509_STORE, X509_STORE_free>;

/// No terminal to ask: an encrypted key fails instead of waiting for a pass phrase.
int refuse_pass_phrase(char*, int, int, void*) { return -1; }

std::optional<std::string> content_of(report& out, const place& at, const std::string& path) {
  auto content = read_file(out, path, most_bytes);
  if (content) return *content;
  out.error(at, out.value(path) + " " + content.why);
  return std::nullopt;
}

bio_ptr open_text(const std::string& text) {
  return bio_ptr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

x509_ptr first_certificate(const std::string& text) {
  const bio_ptr bio = open_text(text);
  x509_ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, refuse_pass_phrase, nullptr));
  ERR_clear_error();
  return certificate;
}

key_ptr private_key(const std::string& text) {
  const bio_ptr bio = open_text(text);
  key_ptr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse_pass_phrase, nullptr));
  ERR_clear_error();
  return key;
}

void check_validity(report& out, const place& at, const std::string& path, const X509& certificate) {
  if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) < 0) {
    out.warning(at, out.value(path) + " has expired");
  } else if (X509_cmp_current_time(X509_get0_notBefore(&certificate)) > 0) {
    out.warning(at, out.value(path) + " is not valid yet");
  }
}

/// The first certificate of a file that can be read; what is wrong with it is reported.
x509_ptr read_certificate(report& out, const place& at, const std::string& path) {
  const auto text = content_of(out, at, path);
  if (!text) return nullptr;
  x509_ptr certificate = first_certificate(*text);
  if (certificate) {
    check_validity(out, at, path, *certificate);
  } else {
    out.error(at, out.value(path) + " holds no certificate, expected PEM");
  }
  return certificate;
}

key_ptr read_key(report& out, const place& at, const std::string& path) {
  const auto text = content_of(out, at, path);
  if (!text) return nullptr;
  key_ptr key = private_key(*text);
  if (key) return key;
  const bool encrypted = text->find("ENCRYPTED") != std::string::npos;
  out.error(at, out.value(path) + (encrypted ? " is encrypted, expected a key without a pass phrase"
                                             : " holds no private key, expected PEM"));
  return nullptr;
}

void report_refusal(report& out, const place& at, const std::string& path) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  out.error(at, out.value(path) + " is refused by OpenSSL: " + (reason ? reason : "no reason given"));
  ERR_clear_error();
}

/// A good file is not yet one that is served: OpenSSL refuses keys that are too short and digests that are too old.
void check_strength(report& out, const place& at, const std::string& path) {
  const context_ptr context(SSL_CTX_new(TLS_method()));
  if (!context || SSL_CTX_use_certificate_chain_file(context.get(), path.c_str()) == 1) return;
  report_refusal(out, at, path);
}

/// Behind a good certificate one can follow that was cut short, as in a file that is still being written.
void check_whole(report& out, const place& at, const std::string& path) {
  const store_ptr store(X509_STORE_new());
  if (!store || X509_STORE_load_file(store.get(), path.c_str()) == 1) return;
  report_refusal(out, at, path);
}

}  // namespace

void check_key_pair(report& out, const key_pair_files& files) {
  const x509_ptr certificate =
      files.certificate.empty() ? nullptr : read_certificate(out, files.certificate_at, files.certificate);
  const key_ptr key = files.key.empty() ? nullptr : read_key(out, files.key_at, files.key);
  if (certificate) check_strength(out, files.certificate_at, files.certificate);
  if (certificate && key && X509_check_private_key(certificate.get(), key.get()) != 1) {
    out.error(files.key_at,
              out.value(files.key) + " does not belong to the certificate " + out.value(files.certificate));
  }
  ERR_clear_error();
}

void check_ca_file(report& out, const place& at, const std::string& path) {
  if (read_certificate(out, at, path)) check_whole(out, at, path);
}

}  // namespace idem::config
