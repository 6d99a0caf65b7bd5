// What docs/configuration.md specifies and this version does not do yet.
#pragma once

#include <string_view>

namespace idem::config {

/// Features have names such as `source jwt`. A configuration that asks for one is refused with `not supported yet`
/// rather than half obeyed.
bool is_unsupported(std::string_view feature);

}  // namespace idem::config
