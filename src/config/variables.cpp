#include "config/variables.hpp"

#include <algorithm>
#include <cstdlib>

#include "idem/text/ascii.hpp"

namespace idem::config {
namespace {

bool is_name(std::string_view name) {
  return !name.empty() && !text::is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return text::is_alnum(c) || c == '_'; });
}

/// The value of what stands between `${` and `}`.
parsed<std::string> lookup(std::string_view inner) {
  using result = parsed<std::string>;
  const std::size_t dash = inner.find(":-");
  const std::string name(inner.substr(0, dash));
  if (!is_name(name))
    return result::fail("has no name of a variable between ${ and }, expected ${VAR} or ${VAR:-default}");
  const char* value = std::getenv(name.c_str());
  if (dash == std::string_view::npos) {
    if (value) return std::string(value);
    return result::fail("needs the environment variable " + name + ", which is not set and has no default");
  }
  const std::string_view otherwise = inner.substr(dash + 2);
  if (otherwise.find("${") != std::string_view::npos) {
    return result::fail("has a variable inside of the default of " + name + ", expected plain text there");
  }
  return value && *value ? std::string(value) : std::string(otherwise);
}

}  // namespace

parsed<std::string> expand_variables(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t start = text.find("${");
    out += text.substr(0, start);
    if (start == std::string_view::npos) return out;
    text.remove_prefix(start + 2);
    const std::size_t end = text.find('}');
    if (end == std::string_view::npos) return parsed<std::string>::fail("has a ${ without its }");
    auto value = lookup(text.substr(0, end));
    if (!value) return value;
    out += *value;
    text.remove_prefix(end + 1);
  }
}

}  // namespace idem::config
