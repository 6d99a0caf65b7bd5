// The program's version, as `idempotency-proxy version` and the metric idempotency_proxy_build_info show it.
#pragma once

#include <string_view>

namespace idem::telemetry {

/// The same as the project's version in CMakeLists.txt; a test compares them.
inline constexpr std::string_view version = "0.1.0";

}  // namespace idem::telemetry
