// Canonical JSON and look-ups: the first line is a pointer, the rest is a text.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/check.hpp"
#include "fuzz/input.hpp"
#include "idem/idempotency/fingerprint.hpp"
#include "idempotency/json_lookup.hpp"

namespace {

using idem::fuzz::check;
using idem::idempotency::canonical_json;

/// Writes a canonical text anew with other white space and its members in another order, where the order of those of
/// one name stays. Reads only what canonical_json has written.
class shuffler {
 public:
  explicit shuffler(std::string_view text) : text_(text) {}

  std::string value() {
    switch (text_.at(at_)) {
      case '{': return object();
      case '[': return array();
      case '"': return string();
      default: return scalar();
    }
  }

 private:
  std::string object() {
    struct member {
      std::string text;
      std::size_t order, position;
    };
    std::vector<member> members;
    ++at_;
    while (text_.at(at_) != '}') {
      const std::string name = string();
      check(text_.at(at_++) == ':', "a canonical text has a colon behind each name");
      members.push_back({name + " :\t" + value(), std::hash<std::string>()(name), members.size()});
      if (text_.at(at_) == ',') ++at_;
    }
    ++at_;
    std::sort(members.begin(), members.end(), [](const member& a, const member& b) {
      return std::pair(a.order, a.position) < std::pair(b.order, b.position);
    });
    std::string out = "{ ";
    for (const member& m : members) out += (&m == members.data() ? "" : ",\n") + m.text;
    return out + "\r\n}";
  }

  std::string array() {
    std::string out = "[";
    ++at_;
    while (text_.at(at_) != ']') {
      out += value();
      if (text_.at(at_) == ',') out += " , ", ++at_;
    }
    ++at_;
    return out + "]";
  }

  std::string string() {
    const std::size_t begin = at_++;
    while (text_.at(at_) != '"') at_ += text_.at(at_) == '\\' ? 2 : 1;
    ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string scalar() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",]}").find(text_[at_]) == std::string_view::npos) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void check_canonical(const std::string& canonical) {
  check(canonical_json(canonical) == canonical, "a canonical text is its own canonical form");
  check(canonical_json(shuffler(canonical).value()) == canonical, "white space and order do not count");
}

// Without strings there is nothing to sort and nothing to unescape: every digit stays.
void check_digits(std::string_view text, const std::string& canonical) {
  if (text.find('"') != text.npos) return;
  std::string bare;
  for (const char c : text)
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) bare += c;
  check(canonical == bare, "numbers keep their digits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string pointer(idem::fuzz::take_line(text));
  const auto canonical = canonical_json(text);
  const auto found = idem::idempotency::find_in_json(text, pointer);
  if (!canonical) {
    idem::idempotency::find_in_json_as_written(text, pointer);
    check(found.result == idem::idempotency::lookup::absent, "what is no JSON holds no key");
    return 0;
  }
  const auto as_written = idem::idempotency::find_in_json_as_written(text, pointer);
  check(as_written.result == found.result && as_written.value == found.value, "what is JSON is read as such");
  check_canonical(*canonical);
  check_digits(text, *canonical);
  const auto without = canonical_json(text, {pointer}), only = canonical_json(text, {}, {pointer});
  check(without.has_value() && only.has_value(), "filters do not decide whether a text parses");
  check_canonical(*without);
  check_canonical(*only);
  // the canonical form says the same to a reader as the text it was made of
  const auto again = idem::idempotency::find_in_json(*canonical, pointer);
  check(again.result == found.result && again.value == found.value, "a canonical text holds the same key");
  // leaving out elements moves the others, so that only pointers without an index lead to the same place
  if (found.result != idem::idempotency::lookup::found || pointer.find_first_of("0123456789") != pointer.npos) return 0;
  check(idem::idempotency::find_in_json(*only, pointer).value == found.value, "what is included is there");
  check(idem::idempotency::find_in_json(*without, pointer).result == idem::idempotency::lookup::absent,
        "what is excluded is not");
  return 0;
}
