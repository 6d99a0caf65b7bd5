#include <openssl/rand.h>

#include <cstdlib>
#include <cstring>

#include "idem/idempotency/record.hpp"
#include "idem/text/hex.hpp"

namespace idem::idempotency {
namespace {

// The generator locks and costs the better part of a microsecond a call, whatever the size: a thread draws 64 tokens at
// once. The process never forks after its start, so no two processes can draw from one buffer.
class token_source {
 public:
  const unsigned char* next() {
    if (used_ == sizeof bytes_) refill();
    used_ += token_bytes;
    return bytes_ + used_ - token_bytes;
  }

 private:
  static constexpr std::size_t token_bytes = 16;

  void refill() {
    // Two owners with one token would both own a record: rather none at all.
    if (RAND_bytes(bytes_, sizeof bytes_) != 1) std::abort();
    used_ = 0;
  }

  unsigned char bytes_[64 * token_bytes];
  std::size_t used_ = sizeof bytes_;
};

}  // namespace

owner owner::fresh(std::uint16_t attempt) {
  thread_local token_source source;
  owner o;
  o.attempt = attempt;
  text::write_hex(o.token.data(), source.next(), 16);
  return o;
}

std::string owner::text() const {
  const unsigned char number[] = {static_cast<unsigned char>(attempt >> 8), static_cast<unsigned char>(attempt & 0xff)};
  std::string out(owner_size, ' ');
  text::write_hex(out.data(), number, 2);
  std::memcpy(out.data() + 5, token.data(), token.size());
  return out;
}

}  // namespace idem::idempotency
