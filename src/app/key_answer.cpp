#include "app/key_answer.hpp"

#include <boost/beast/http/status.hpp>

#include <fstream>

#include "idem/http/made_field.hpp"
#include "idem/http/writer.hpp"
#include "idem/text/field_syntax.hpp"

namespace idem::app {

namespace {

/// Empty for a status that no standard names: a phrase of ours would be none.
std::string reason_of(unsigned status) {
  const auto known = boost::beast::http::int_to_status(status);
  if (known == boost::beast::http::status::unknown) return {};
  const auto phrase = boost::beast::http::obsolete_reason(known);
  return {phrase.data(), phrase.size()};
}

/// The text for a message, which must not bring line ends or escapes of a terminal.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= ' ' && c != 0x7f ? c : '?';
  return out;
}

std::string add_header(std::string_view line, std::string& block) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return "--header '" + printable(line) + "': expected 'Name: value'";
  const auto name = line.substr(0, colon), value = text::trim_ows(line.substr(colon + 1));
  if (const auto why = http::made_field_fault(name, value); !why.empty()) {
    return "--header '" + printable(name) + "': " + std::string(why);
  }
  http::append_field(block, name, value);
  return {};
}

/// What is wrong with the file of the body, or nothing. A folder can be opened, but not read.
std::string read_body(const std::string& name, std::string& into) {
  constexpr std::size_t most = 16 * 1024 * 1024;  // as max_stored_body
  std::ifstream in(name, std::ios::binary);
  char part[4096];
  while (into.size() <= most && (in.read(part, sizeof part) || in.gcount() > 0)) {
    into.append(part, static_cast<std::size_t>(in.gcount()));
  }
  if (into.size() > most) return "--body: the file is larger than 16MiB";
  return in.eof() && !in.bad() ? "" : "--body: the file cannot be read";
}

}  // namespace

std::string make_answer(const key_request& q, key_answer& out) {
  if (q.status < 200 || q.status > 599) return "--status: expected 200 … 599";
  out.block = reason_of(q.status) + "\r\n";
  for (const auto& line : q.headers) {
    if (auto why = add_header(line, out.block); !why.empty()) return why;
  }
  if (!q.body_file) return {};
  if (auto why = read_body(*q.body_file, out.body); !why.empty()) return why;
  if (!out.body.empty() && (q.status == 204 || q.status == 304)) return "--body: an answer of this status has none";
  return {};
}

}  // namespace idem::app
