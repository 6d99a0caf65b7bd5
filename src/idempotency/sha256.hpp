// SHA-256 over OpenSSL's EVP, for names, fingerprints and checksums.
//
// Each thread keeps one digest context and the algorithm is fetched once: EVP_sha256() would search the providers
// again for every digest, which costs more than hashing a record's name does.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace idem::idempotency {

using sha256_digest = std::array<unsigned char, 32>;

namespace detail {

struct free_context {
  void operator()(EVP_MD_CTX* c) const { EVP_MD_CTX_free(c); }
};
using context_ptr = std::unique_ptr<EVP_MD_CTX, free_context>;

// Without SHA-256 no name and no checksum can be trusted, and a made-up digest could join two keys: ending the
// process is the only safe answer.
inline const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  if (algorithm == nullptr) std::abort();
  return algorithm;
}

inline context_ptr new_context() {
  context_ptr c(EVP_MD_CTX_new());
  if (!c) std::abort();
  return c;
}

/// A thread's spare context: taken by the hasher that runs, so that a second one beside it gets its own.
inline context_ptr& spare_context() {
  thread_local context_ptr spare;
  return spare;
}

}  // namespace detail

/// One digest: any number of updates, then one finish. Not to be passed between threads.
class sha256 {
 public:
  sha256() : context_(std::move(detail::spare_context())) {
    if (!context_) context_ = detail::new_context();
    if (EVP_DigestInit_ex2(context_.get(), detail::sha256_algorithm(), nullptr) != 1) std::abort();
  }
  ~sha256() { detail::spare_context() = std::move(context_); }
  sha256(const sha256&) = delete;
  sha256& operator=(const sha256&) = delete;

  /// Small parts are gathered: a call of EVP costs more than copying a name or a number.
  void update(std::string_view bytes) {
    if (bytes.empty()) return;
    if (bytes.size() > sizeof gathered_ - used_) flush();
    if (bytes.size() > sizeof gathered_) return digest_now(bytes);
    std::memcpy(gathered_ + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }

  /// `bytes` after their length (8 bytes, big endian), so that no two lists of parts give one stream.
  void update_sized(std::string_view bytes) {
    update_number(bytes.size());
    update(bytes);
  }

  void update_number(std::uint64_t n) {
    char text[8];
    for (int i = 0; i < 8; ++i) text[i] = static_cast<char>((n >> (56 - 8 * i)) & 0xff);
    update({text, sizeof text});
  }

  sha256_digest finish() {
    flush();
    sha256_digest digest;
    if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) std::abort();
    return digest;
  }

 private:
  void digest_now(std::string_view bytes) {
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) std::abort();
  }
  void flush() {
    if (used_ > 0) digest_now({gathered_, used_});
    used_ = 0;
  }

  detail::context_ptr context_;
  std::size_t used_ = 0;
  char gathered_[256];
};

inline constexpr char hex_digits[] = "0123456789abcdef";

/// Lower-case hex of `count` bytes, written to `to` (2 × count characters).
inline void write_hex(char* to, const unsigned char* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    *to++ = hex_digits[from[i] >> 4];
    *to++ = hex_digits[from[i] & 15];
  }
}

}  // namespace idem::idempotency
