// Short ways to load a configuration and to ask what was found.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "idem/config/load.hpp"

namespace idem::config::test {

/// The findings as the user sees them; the file is called `f`.
std::vector<std::string> lines_of(const load_result& result);

/// `text` loads, possibly with warnings.
load_result loaded(const std::string& text);

/// A file with an upstream, a redis store (which does not warn) and these routes; the routes begin on line 3.
std::string with_routes(std::string_view routes);

/// The same with one route `a` for /a whose idempotency block holds these lines: `text` stands on line 7, column 7.
std::string with_block(std::string_view block);

/// Exactly one finding of `text` begins with `start`, and that one contains `part`.
testing::AssertionResult reports(const std::string& text, const std::string& start, const std::string& part = "");

/// No finding at all, not even a warning.
testing::AssertionResult is_clean(const std::string& text);

}  // namespace idem::config::test
