#include "http/head_writer.hpp"
#include "idem/text/field_syntax.hpp"

namespace idem::http {
namespace {

using forwarded = request_edits::forwarded;

/// A target may hold no white space either: it would move the version.
bool fits_target(std::string_view part) {
  bool bad = false;
  for (char c : part) bad |= static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
  return !bad;
}

class request_writer {
 public:
  request_writer(std::string& out, const request_head& head, const request_edits& edits)
      : out_(out), head_(head), edits_(edits), mode_(edits.forwarded_mode) {
    if (edits.forwarded_for.empty() && mode_ != forwarded::remove) mode_ = forwarded::preserve;
  }

  bool write() {
    request_line();
    // RFC 9112 §3.2: an HTTP/1.1 request has a Host even if nobody named one
    if (!head_.find(field_id::host)) out_.field("Host", head_.authority);
    for (const field& f : head_.fields) copy(f);
    out_.framing_here(edits_.body);
    forwarded_fields();
    if (edits_.via) out_.field("Via", via_of(head_.minor));
    if (!edits_.attempt.empty()) out_.field("Idempotency-Attempt", edits_.attempt);
    if (edits_.keep_upgrade) out_.field("Connection", "Upgrade");
    return out_.finish();
  }

 private:
  void request_line() {
    out_.require(text::is_token(head_.method) && !head_.path.empty() && fits_target(head_.path) &&
                 fits_target(head_.query));
    out_.raw(head_.method);
    out_.raw(" ");
    out_.raw(head_.path);
    if (head_.has_query) {
      out_.raw("?");
      out_.raw(head_.query);
    }
    out_.raw(" HTTP/1.1\r\n");
  }

  void copy(const field& f) {
    switch (f.id) {
      case field_id::host: host(f); return;
      case field_id::content_length:
      case field_id::transfer_encoding: out_.framing_here(edits_.body); return;
      case field_id::trailer:
        if (edits_.keep_trailer && edits_.body.kind == framing_kind::chunked) out_.trailer(f, head_);
        return;
      case field_id::upgrade: copy_if(f, edits_.keep_upgrade); return;
      // RFC 9110 §10.1.1: nobody waits for 100 in 1.0, and the request goes on as one of 1.1
      case field_id::expect: copy_if(f, edits_.keep_expect && head_.minor > 0 && !f.hop_by_hop); return;
      case field_id::idempotency_attempt: copy_if(f, edits_.attempt.empty() && !f.hop_by_hop); return;
      case field_id::x_forwarded_for: forwarded_for(f); return;
      case field_id::x_forwarded_proto:
      case field_id::x_forwarded_host: copy_if(f, keeps_forwarded() && !f.hop_by_hop); return;
      default: copy_if(f, !f.hop_by_hop); return;
    }
  }

  void copy_if(const field& f, bool condition) {
    if (condition) out_.field(f);
  }

  void host(const field& f) {
    if (head_.absolute_form) {
      out_.field(f.name, head_.authority);
    } else {
      out_.field(f);
    }
  }

  bool keeps_forwarded() const { return mode_ == forwarded::preserve || mode_ == forwarded::append; }

  bool has_forwarded(field_id id) const {
    for (const field& f : head_.fields) {
      if (f.id == id && !f.hop_by_hop) return true;
    }
    return false;
  }

  /// All lines of the list become one, where the first of them stood.
  void forwarded_for(const field& f) {
    if (f.hop_by_hop || !keeps_forwarded()) return;
    if (mode_ == forwarded::preserve) return out_.field(f);
    if (!for_written_) write_joined();
  }

  void write_joined() {
    for_written_ = true;
    std::string list;
    for (const field& f : head_.fields) {
      if (f.id != field_id::x_forwarded_for || f.hop_by_hop || f.value.empty()) continue;
      list += f.value;
      list += ", ";
    }
    list += edits_.forwarded_for;
    out_.field("X-Forwarded-For", list);
  }

  void forwarded_fields() {
    if (mode_ != forwarded::append && mode_ != forwarded::replace) return;
    const bool replace = mode_ == forwarded::replace;
    if (!for_written_) out_.field("X-Forwarded-For", edits_.forwarded_for);
    if (!edits_.forwarded_proto.empty() && (replace || !has_forwarded(field_id::x_forwarded_proto))) {
      out_.field("X-Forwarded-Proto", edits_.forwarded_proto);
    }
    if (!head_.authority.empty() && (replace || !has_forwarded(field_id::x_forwarded_host))) {
      out_.field("X-Forwarded-Host", head_.authority);
    }
  }

  head_writer out_;
  const request_head& head_;
  const request_edits& edits_;
  forwarded mode_;
  bool for_written_ = false;
};

}  // namespace

bool append_request_head(std::string& out, const request_head& head, const request_edits& edits) {
  return request_writer(out, head, edits).write();
}

}  // namespace idem::http
