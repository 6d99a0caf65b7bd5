#include "idempotency/form.hpp"

#include "idempotency/ascii.hpp"

namespace idem::idempotency {

std::optional<std::string> form_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = hex_digit_value(text[i + 1]), low = hex_digit_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

lookup_result find_in_form(std::string_view text, std::string_view name) {
  lookup_result r;
  for_each_pair(text, [&](std::string_view raw_name, std::string_view raw_value) {
    const auto decoded_name = form_decode(raw_name);
    if (!decoded_name || *decoded_name != name) return;
    if (r.result != lookup::absent) {
      r.result = lookup::ambiguous;
      return;
    }
    auto value = form_decode(raw_value);
    r.result = value ? lookup::found : lookup::malformed;
    if (value) r.value = std::move(*value);
  });
  return r;
}

}  // namespace idem::idempotency
