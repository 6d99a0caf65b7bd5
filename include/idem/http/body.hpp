// Bodies: taking them out of their framing, and putting them into another one (RFC 9112 §6, §7).
//
// body_decoder gives the data of a body piece by piece as views into what it was fed; nothing is copied. A body that
// ends early is the caller's to see: finish() says whether the end of the connection ends the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "idem/http/head.hpp"

namespace idem::http {

/// What one call of body_decoder::feed found.
struct body_step {
  enum class kind : std::uint8_t {
    need_more,  ///< everything was consumed (or what is left waits for more); feed again with what follows
    data,       ///< `data` is the next piece; feed again with what follows `consumed`
    done,       ///< the body is whole; what follows `consumed` belongs to the next message
    error       ///< bad framing; `error` is a literal that says what is wrong
  };
  kind type = kind::need_more;
  std::size_t consumed = 0;  ///< bytes of the input that are done with, framing included
  std::string_view data;
  std::string_view error;
};

class body_decoder {
 public:
  body_decoder() = default;
  explicit body_decoder(framing plan) { reset(plan); }

  void reset(framing plan);
  /// The same, of a message with this head: trailers that its Connection names are left out (RFC 9110 §7.6.1).
  void reset(framing plan, const field_list& head);

  /// Takes the next bytes. At most one piece of data a call, as long as the input allows. With framing none or
  /// length 0 the first call (an empty input will do) is done. Chunk lines may be split anywhere: they are kept inside,
  /// `consumed` covers them. Chunk extensions are read over (at most 4 KiB in a body), a size has at most 16 digits.
  body_step feed(std::string_view in);

  bool done() const { return done_; }

  /// The peer closed its side in good order: true if that ends the body (until_close, or already done).
  bool finish();

  std::uint64_t received() const { return received_; }  ///< data bytes so far

  /// Trailer section as it came (`Name: value\r\n` lines), bounded to 8 KiB and 64 lines, judged like fields. Lines
  /// that would change framing, routing, authentication or the key are left out (RFC 9110 §6.5.1), as are those that
  /// Connection names.
  const std::string& trailers() const { return trailers_; }

 private:
  body_step fail(std::string_view why);
  body_step feed_counted(std::string_view in);
  body_step feed_chunked(std::string_view in);
  std::string_view take_size(char c);
  std::string_view take_extension(char c);
  std::string_view take_line_end(char c);
  std::string_view take_trailer(std::string_view in, std::size_t& consumed);
  std::string_view end_trailer(std::string_view line);

  enum class chunk_state : std::uint8_t { size_first, size, extension, size_lf, data, data_cr, data_lf, trailer, end };
  framing plan_;
  chunk_state state_ = chunk_state::size_first;
  bool done_ = true;  ///< a plan without a body is done from the start
  bool failed_ = false;
  bool in_quotes_ = false;
  bool escaped_ = false;
  std::uint8_t digits_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t received_ = 0;
  std::size_t extension_bytes_ = 0;
  std::size_t trailer_lines_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::string_view why_;
  std::string connection_;  ///< of a chunked message; its head's bytes are gone when the trailers come
  std::string line_;
  std::string trailers_;
};

/// `SIZE\r\n` of a chunk of n bytes (n > 0). The data and chunk_end follow.
void append_chunk_size(std::string& out, std::uint64_t n);
inline constexpr std::string_view chunk_end = "\r\n";
/// Last chunk with trailers (`Name: value\r\n` lines, may be empty).
void append_last_chunk(std::string& out, std::string_view trailers = {});

}  // namespace idem::http
