// SHA-256 by OpenSSL, for names, fingerprints and checksums.
//
// Through its oldest interface: EVP of OpenSSL 3 allocates a context for each digest, and a request makes up to five,
// most of them shorter than what that costs. The functions are marked deprecated, but nothing with a state on the
// stack has come in their place.
#pragma once

#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace idem::idempotency {

using sha256_digest = std::array<unsigned char, 32>;

/// One digest: any number of updates, then one finish. Not to be passed between threads.
class sha256 {
 public:
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  sha256() {
    // Without SHA-256 no name and no checksum can be trusted, and a made-up digest could join two keys: ending the
    // process is the only safe answer.
    if (SHA256_Init(&state_) != 1) std::abort();
  }
  sha256(const sha256&) = delete;
  sha256& operator=(const sha256&) = delete;

  /// Small parts are gathered: a call costs more than copying a name or a number.
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
    if (SHA256_Final(digest.data(), &state_) != 1) std::abort();
    return digest;
  }

 private:
  void digest_now(std::string_view bytes) {
    if (SHA256_Update(&state_, bytes.data(), bytes.size()) != 1) std::abort();
  }
  void flush() {
    if (used_ > 0) digest_now({gathered_, used_});
    used_ = 0;
  }
#pragma clang diagnostic pop

  SHA256_CTX state_;
  std::size_t used_ = 0;
  char gathered_[256];
};

}  // namespace idem::idempotency
