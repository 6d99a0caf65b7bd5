// Bodies that are no JSON, through identity and fingerprint: the first line is a Content-Type, the rest is a body.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fuzz/check.hpp"
#include "fuzz/input.hpp"
#include "idem/idempotency/fingerprint.hpp"
#include "idem/idempotency/identity.hpp"
#include "idem/text/ascii.hpp"
#include "idempotency/form.hpp"
#include "idempotency/media_type.hpp"
#include "idempotency/multipart.hpp"

namespace {

using namespace idem;
using namespace idem::idempotency;
using fuzz::check;

struct message {
  message(std::string_view content_type, std::string_view text) : body(text) {
    head.method = "POST";
    head.authority = "Example.com";
    head.path = "/p";
    head.query = body.substr(0, 40);
    head.has_query = true;
    head.fields.push_back({"Content-Type", content_type, http::field_id::content_type, false});
  }
  request_view view(bool body_known = true) const { return {&head, &captures, body, body_known}; }

  http::request_head head;
  config::path_captures captures;
  std::string_view body;
};

config::source make_source(config::source::kind kind, std::string name, std::string text) {
  return {kind, std::move(name), std::move(text)};
}

config::idempotency_config make_route() {
  using kind = config::source::kind;
  config::idempotency_config route;
  route.key.from = {{make_source(kind::form, "k", "form:k"), make_source(kind::query, "q", "query:q")},
                    {make_source(kind::xml, "/a/b", "xml:/a/b")},
                    {make_source(kind::form, "k", "form:k")},
                    {make_source(kind::query, "k", "query:k")}};
  return route;
}

// What the head decides, the body does not turn round.
void check_identity(const message& m) {
  static const config::idempotency_config route = make_route();
  const identity early = identify(route, "", m.view(false)), late = identify(route, "", m.view());
  check(late.kind != identity_kind::need_body, "with the body the key is decided");
  if (early.kind != identity_kind::need_body)
    check(early.kind == late.kind && early.name == late.name, "the body does not turn round what the head decided");
}

fingerprint print(std::string_view content_type, std::string_view body, config::body_mode mode) {
  message m(content_type, body);
  m.head.has_query = false;
  m.head.query = {};
  config::fingerprint_config settings;
  settings.body = mode;
  return compute_fingerprint(settings, m.view());
}

void check_form(std::string_view body) {
  std::vector<std::string> pairs;
  std::set<std::string> names;
  bool decodes = true;
  for_each_pair(body, [&](std::string_view name, std::string_view value) {
    const auto decoded = form_decode(name);
    decodes = decodes && decoded && form_decode(value);
    if (decoded) names.insert(*decoded);
    pairs.push_back(std::string(name) + "=" + std::string(value));
  });
  if (!decodes || names.size() != pairs.size()) return;
  std::string reversed;
  for (auto p = pairs.rbegin(); p != pairs.rend(); ++p) reversed += *p + "&";
  check(print("", body, config::body_mode::form) == print("", reversed, config::body_mode::form),
        "the order of different names does not count");
}

// The same parts between other boundaries are the same request.
void check_multipart(std::string_view content_type, std::string_view body) {
  const std::string_view other = "another-boundary-of-the-fuzzer";
  const auto bounded = split_boundary(content_type);
  // names of header fields come back in lower case
  if (!bounded || !is_multipart(content_type) || text::lower_case(body).find(other) != std::string::npos) return;
  const auto parsed = parse_multipart(body, bounded->boundary);
  if (!parsed) return;
  std::string again(parsed->preamble);
  if (!again.empty() || body.starts_with("\r\n")) again += "\r\n";
  for (const multipart_part& part : parsed->parts) {
    again += "--" + std::string(other) + "\r\n";
    for (const auto& [name, value] : part.headers) again += name + ": " + std::string(value) + "\r\n";
    again += "\r\n" + std::string(part.content) + "\r\n";
  }
  again += "--" + std::string(other) + "--";
  if (!parsed->epilogue.empty()) again += "\r\n" + std::string(parsed->epilogue);
  const std::string type = bounded->rest + "; boundary=" + std::string(other);
  check(print(content_type, body, config::body_mode::multipart) == print(type, again, config::body_mode::multipart),
        "the boundary does not count");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view content_type = fuzz::take_line(text);
  const message m(content_type, text);
  check_identity(m);
  for (const auto mode : {config::body_mode::automatic, config::body_mode::raw, config::body_mode::form,
                          config::body_mode::multipart, config::body_mode::none})
    check(print(content_type, text, mode) == print(content_type, text, mode),
          "a fingerprint is a function of the request");
  check_form(text);
  check_multipart(content_type, text);
  return 0;
}
