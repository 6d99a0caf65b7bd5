#include "http/head_writer.hpp"

namespace idem::http {
namespace {

class response_writer {
 public:
  response_writer(std::string& out, const response_head& head, const response_edits& edits)
      : string_(out), out_(out), head_(head), edits_(edits) {}

  bool write() {
    out_.require(append_status_line(string_, head_.status, head_.reason));
    for (const field& f : head_.fields) copy(f);
    if (may_be_framed()) out_.framing_here(edits_.body);
    if (edits_.via) out_.field("Via", via_of(head_.minor));
    connection();
    return out_.finish();
  }

 private:
  /// RFC 9110 §8.6, RFC 9112 §6.1: neither Content-Length nor Transfer-Encoding, whatever the backend said.
  bool may_be_framed() const { return head_.status >= 200 && head_.status != 204; }

  void copy(const field& f) {
    switch (f.id) {
      case field_id::content_length:
      case field_id::transfer_encoding: framing_field(f); return;
      case field_id::trailer:
        if (edits_.keep_trailer && edits_.body.kind == framing_kind::chunked) out_.trailer(f, head_);
        return;
      case field_id::upgrade: copy_if(f, edits_.keep_upgrade); return;
      case field_id::idempotency_status: copy_if(f, !edits_.drop_idempotency_status && !f.hop_by_hop); return;
      default: copy_if(f, !f.hop_by_hop); return;
    }
  }

  void copy_if(const field& f, bool condition) {
    if (condition) out_.field(f);
  }

  /// Without a body of its own (HEAD, 304) the answer tells the length that another request would have got.
  void framing_field(const field& f) {
    if (!may_be_framed()) return;
    if (edits_.body.kind != framing_kind::none) {
      out_.framing_here(edits_.body);
    } else if (f.id == field_id::content_length) {
      out_.field(f);
    }
  }

  void connection() {
    if (edits_.keep_upgrade) {
      out_.field("Connection", "Upgrade");
    } else if (edits_.close) {
      out_.field("Connection", "close");
    } else if (edits_.keep_alive_10) {
      out_.field("Connection", "keep-alive");
    }
  }

  std::string& string_;
  head_writer out_;
  const response_head& head_;
  const response_edits& edits_;
};

}  // namespace

bool append_response_head(std::string& out, const response_head& head, const response_edits& edits) {
  return response_writer(out, head, edits).write();
}

}  // namespace idem::http
