// Appends one head to a string, or nothing: the first part that is not fit to be written takes everything back.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "http/field_rules.hpp"
#include "idem/http/writer.hpp"
#include "idem/text/field_syntax.hpp"

namespace idem::http {

class head_writer {
 public:
  explicit head_writer(std::string& out) : out_(out), begin_(out.size()) {}

  void field(std::string_view name, std::string_view value) { ok_ = ok_ && append_field(out_, name, value); }
  void field(const http::field& f) { field(f.name, f.value); }

  /// Trailer, without what Connection names: such trailers stay behind as well (RFC 9110 §7.6.1).
  void trailer(const http::field& f, const field_list& head) {
    const auto gone = connection_names(head);
    std::string kept;
    bool all = true;
    for (std::string_view rest = f.value; !rest.empty();) {
      const std::string_view name = text::take_member(rest);
      if (std::any_of(gone.begin(), gone.end(), [name](std::string_view g) { return iequals(g, name); })) {
        all = false;
      } else if (!name.empty()) {
        if (!kept.empty()) kept += ", ";
        kept += name;
      }
    }
    if (all) return field(f);
    if (!kept.empty()) field(f.name, kept);
  }

  /// Framing goes where the message had its own, so that the order of fields stays; once.
  void framing_here(framing plan) {
    if (!framed_) append_framing(out_, plan);
    framed_ = true;
  }

  void raw(std::string_view text) { out_ += text; }
  void require(bool condition) { ok_ = ok_ && condition; }

  bool finish() {
    if (ok_) {
      append_end(out_);
    } else {
      out_.resize(begin_);
    }
    return ok_;
  }

 private:
  std::string& out_;
  std::size_t begin_;
  bool ok_ = true;
  bool framed_ = false;
};

/// The product token with which the proxy signs Via (RFC 9110 §7.6.3).
constexpr std::string_view via_of(unsigned minor) {
  return minor == 0 ? "1.0 idempotency-proxy" : "1.1 idempotency-proxy";
}

}  // namespace idem::http
