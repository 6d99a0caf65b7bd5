// The chunked coding (RFC 9112 §7.1), byte by byte but for data and trailers. Nothing is tolerated that another reader
// of the same bytes could take for the end of a line or of a chunk.
#include <algorithm>

#include "http/field_rules.hpp"
#include "http/trailer_rules.hpp"
#include "idem/http/body.hpp"
#include "idem/text/field_syntax.hpp"
#include "idem/text/hex.hpp"

namespace idem::http {
namespace {

constexpr unsigned max_digits = 16;
constexpr std::size_t max_extension_bytes = 4 * 1024;
constexpr std::size_t max_trailer_bytes = 8 * 1024;
constexpr std::size_t max_trailer_lines = 64;

std::string_view judge_trailer(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return "a trailer line is folded or starts with white space";
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !text::is_token(line.substr(0, colon)))
    return "a trailer line has no valid name";
  if (!text::is_field_text(line.substr(colon + 1))) return "a trailer value holds a control byte";
  return {};
}

}  // namespace

body_step body_decoder::feed_chunked(std::string_view in) {
  std::size_t i = 0;
  while (i < in.size() && !done_) {
    std::string_view wrong;
    switch (state_) {
      case chunk_state::size_first:
      case chunk_state::size: wrong = take_size(in[i++]); break;
      case chunk_state::extension: wrong = take_extension(in[i++]); break;
      case chunk_state::size_lf:
      case chunk_state::data_cr:
      case chunk_state::data_lf: wrong = take_line_end(in[i++]); break;
      case chunk_state::data: {
        const std::string_view data = in.substr(i, left_);
        left_ -= data.size();
        received_ += data.size();
        if (left_ == 0) state_ = chunk_state::data_cr;
        return {body_step::kind::data, i + data.size(), data, {}};
      }
      case chunk_state::trailer: wrong = take_trailer(in, i); break;
      case chunk_state::end: break;
    }
    if (!wrong.empty()) return fail(wrong);
  }
  return {done_ ? body_step::kind::done : body_step::kind::need_more, i, {}, {}};
}

std::string_view body_decoder::take_size(char c) {
  const int digit = text::hex_value(c);
  if (digit >= 0) {
    state_ = chunk_state::size;
    if (++digits_ > max_digits) return "a chunk size has too many digits";
    if (left_ >> 59 != 0) return "a chunk size is too large";
    left_ = left_ << 4 | static_cast<unsigned>(digit);
    return {};
  }
  if (state_ == chunk_state::size_first) return "a chunk size is missing or not hexadecimal";
  if (c == '\r') {
    state_ = chunk_state::size_lf;
  } else if (c == ';') {
    state_ = chunk_state::extension;
  } else {
    return c == '\n' ? "a chunk size ends with a bare line feed" : "a chunk size is not hexadecimal";
  }
  return {};
}

std::string_view body_decoder::take_extension(char c) {
  if (++extension_bytes_ > max_extension_bytes) return "the chunk extensions are too long";
  if (c == '\r' && !in_quotes_) {
    state_ = chunk_state::size_lf;
    return {};
  }
  // Inside of a quoted string too: one reader would go on to the closing quote, another would end the line here.
  if (!text::is_field_text({&c, 1})) return "a chunk extension holds a control byte";
  if (escaped_) {
    escaped_ = false;
  } else if (c == '"') {
    in_quotes_ = !in_quotes_;
  } else if (c == '\\' && in_quotes_) {
    escaped_ = true;
  }
  return {};
}

std::string_view body_decoder::take_line_end(char c) {
  if (c != (state_ == chunk_state::data_cr ? '\r' : '\n')) {
    return state_ == chunk_state::size_lf ? "a chunk size line holds a bare carriage return"
                                          : "chunk data is not followed by CRLF";
  }
  if (state_ == chunk_state::data_cr) {
    state_ = chunk_state::data_lf;
  } else if (state_ == chunk_state::data_lf) {
    state_ = chunk_state::size_first;
    digits_ = 0;
  } else {
    state_ = left_ == 0 ? chunk_state::trailer : chunk_state::data;
  }
  return {};
}

std::string_view body_decoder::take_trailer(std::string_view in, std::size_t& consumed) {
  const std::string_view rest = in.substr(consumed);
  const std::size_t lf = rest.find('\n');
  const std::string_view piece = rest.substr(0, lf == std::string_view::npos ? lf : lf + 1);
  trailer_bytes_ += piece.size();
  if (trailer_bytes_ > max_trailer_bytes) return "the trailers are too long";
  consumed += piece.size();
  if (lf != std::string_view::npos && line_.empty()) return end_trailer(piece);
  line_ += piece;
  if (lf == std::string_view::npos) return {};
  const std::string_view wrong = end_trailer(line_);
  line_.clear();
  return wrong;
}

/// @param line with its line end
std::string_view body_decoder::end_trailer(std::string_view line) {
  if (!line.ends_with("\r\n")) return "a trailer line ends with a bare line feed";
  const std::string_view content = line.substr(0, line.size() - 2);
  if (content.empty()) {
    done_ = true;
    state_ = chunk_state::end;
    return {};
  }
  if (++trailer_lines_ > max_trailer_lines) return "too many trailers";
  if (const std::string_view wrong = judge_trailer(content); !wrong.empty()) return wrong;
  const std::string_view name = content.substr(0, content.find(':'));
  if (!is_forbidden_trailer(name) && !lists(connection_, name)) trailers_ += line;
  return {};
}

}  // namespace idem::http
