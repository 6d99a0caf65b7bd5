#include "config/unsupported.hpp"

#include <algorithm>
#include <array>

namespace idem::config {
namespace {

constexpr std::array<std::string_view, 2> unsupported_features{
    "source jwt",   // a claim of a verified token as key or scope
    "source mtls",  // the subject of the client's certificate as scope
};

}  // namespace

bool is_unsupported(std::string_view feature) {
  return std::find(unsupported_features.begin(), unsupported_features.end(), feature) != unsupported_features.end();
}

}  // namespace idem::config
