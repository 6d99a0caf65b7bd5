#include "idempotency/zstd_body.hpp"

#include <zstd.h>

#include <vector>

#include "idem/memory/freed_by.hpp"

namespace idem::idempotency {

bool unpack_zstd(std::string_view packed, std::string& out) {
  if (packed.empty()) return false;
  const memory::owned_by_c<ZSTD_DStream, ZSTD_freeDStream> stream(ZSTD_createDStream());
  if (!stream) return false;
  std::vector<char> piece(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  // By pieces, not by the size that the frame claims: that number comes from the store and may be anything.
  for (;;) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(left)) return false;
    if (out.size() + to.pos > max_unpacked_body) return false;
    out.append(piece.data(), to.pos);
    if (in.pos == in.size && left == 0) return true;
    if (in.pos == in.size && to.pos < to.size) return false;  // it waits for bytes that are not there
  }
}

}  // namespace idem::idempotency
