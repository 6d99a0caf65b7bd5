#include "config/report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "idem/text/hex.hpp"

namespace idem::config {

namespace {

/// What a user wrote may stand in a message as an example as well; whatever it holds, a finding is one line.
std::string one_line(std::string text) {
  if (std::none_of(text.begin(), text.end(), text::is_control)) return text;
  std::string out;
  for (char c : text) {
    if (text::is_control(c)) {
      out += "\\x";
      text::append_hex(out, c);
    } else {
      out += c;
    }
  }
  return out;
}

/// Whether `inner` is the path `outer`, or begins with it.
bool is_within(std::string_view inner, std::string_view outer) {
  if (!inner.starts_with(outer)) return false;
  return inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[';
}

}  // namespace

std::string finding::text() const {
  std::string out = file;
  if (line > 0) out += ":" + std::to_string(line) + ":" + std::to_string(column);
  out += level == severity::error ? ": error: " : ": warning: ";
  if (!key_path.empty()) out += key_path + ": ";
  return out + message;
}

void report::add(finding::severity level, const place& at, std::string message) {
  if (level == finding::severity::error) {
    ++errors_;
    if (!values_are_read_ && !at.path.empty()) refuse(at.path);
  }
  findings_.push_back({level, file_, at.line, at.column, one_line(at.path), one_line(std::move(message))});
}

bool report::refused(std::string_view key) const {
  return std::any_of(refused_.begin(), refused_.end(),
                     [key](const auto& bad) { return is_within(bad, key) || is_within(key, bad); });
}

std::string report::value(const std::string& text) const {
  const auto found = concealed_.find(text);
  return found == concealed_.end() ? quoted(text) : "the value of " + quoted(found->second);
}

std::vector<finding> report::in_file_order() const {
  std::map<std::tuple<int, int, std::size_t>, const finding*> sorted;
  std::set<std::string> seen;
  for (const finding& f : findings_) {
    if (seen.insert(f.text()).second) sorted.emplace(std::tuple(f.line, f.column, sorted.size()), &f);
  }
  std::vector<finding> out;
  for (const auto& [position, f] : sorted) out.push_back(*f);
  return out;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 80;
  std::size_t end = std::min(text.size(), most);
  // a cut inside of a UTF-8 sequence would leave half a character in the log
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return '"' + one_line(std::string(text.substr(0, end))) + (end < text.size() ? "…\"" : "\"");
}

}  // namespace idem::config
