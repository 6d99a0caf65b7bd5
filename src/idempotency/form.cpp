#include "idempotency/form.hpp"

#include "idem/text/percent.hpp"

namespace idem::idempotency {

std::optional<std::string> form_decode(std::string_view text) { return text::percent_decode(text, ' '); }

bool append_form_decoded(std::string& out, std::string_view text) {
  return text::append_percent_decoded(out, text, ' ');
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
