#include <algorithm>

#include "idem/http/body.hpp"

namespace idem::http {

void body_decoder::reset(framing plan) {
  plan_ = plan;
  state_ = chunk_state::size_first;
  done_ = !plan.has_body();
  failed_ = in_quotes_ = escaped_ = false;
  digits_ = 0;
  left_ = plan.kind == framing_kind::length ? plan.length : 0;
  received_ = 0;
  extension_bytes_ = trailer_lines_ = trailer_bytes_ = 0;
  why_ = {};
  connection_.clear();
  line_.clear();
  trailers_.clear();
}

void body_decoder::reset(framing plan, const field_list& head) {
  reset(plan);
  if (plan.kind != framing_kind::chunked) return;
  for (const field& f : head.fields) {
    if (f.id == field_id::connection) (connection_ += f.value) += ',';
  }
}

body_step body_decoder::fail(std::string_view why) {
  failed_ = true;
  why_ = why;
  return {body_step::kind::error, 0, {}, why};
}

body_step body_decoder::feed(std::string_view in) {
  if (failed_) return fail(why_);
  if (done_) return {body_step::kind::done, 0, {}, {}};
  switch (plan_.kind) {
    case framing_kind::chunked: return feed_chunked(in);
    case framing_kind::length: return feed_counted(in.substr(0, left_));
    default: return feed_counted(in);
  }
}

body_step body_decoder::feed_counted(std::string_view in) {
  if (in.empty()) return {};
  received_ += in.size();
  if (plan_.kind == framing_kind::length) {
    left_ -= in.size();
    done_ = left_ == 0;
  }
  return {body_step::kind::data, in.size(), in, {}};
}

bool body_decoder::finish() {
  if (plan_.kind == framing_kind::until_close && !failed_) done_ = true;
  return done_;
}

}  // namespace idem::http
