// docs/http-behaviour.md names a test for each row. A name that nobody has proves nothing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// `suite.name` of every test in the sources.
std::set<std::string> tests_in(const fs::path& folder) {
  static const std::regex macro(R"(\nTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    const auto text = text_of(entry.path());
    for (auto m = std::sregex_iterator(text.begin(), text.end(), macro); m != std::sregex_iterator(); ++m)
      names.insert((*m)[1].str() + "." + (*m)[2].str());
  }
  return names;
}

/// What stands in the last cell of a table's row; empty for other lines.
std::string last_cell(const std::string& line) {
  if (!line.starts_with("| ") || !line.ends_with(" |")) return {};
  const auto from = line.rfind(" | ", line.size() - 3);
  return from == std::string::npos ? std::string() : line.substr(from + 3, line.size() - from - 5);
}

std::vector<std::string> quoted(const std::string& text) {
  static const std::regex name("`([^`]+)`");
  std::vector<std::string> names;
  for (auto m = std::sregex_iterator(text.begin(), text.end(), name); m != std::sregex_iterator(); ++m)
    names.push_back((*m)[1].str());
  return names;
}

TEST(behaviour_document, names_only_tests_that_exist) {
  const fs::path root = IDEM_SOURCE_DIR;
  const auto tests = tests_in(root / "tests");
  ASSERT_GT(tests.size(), 100U);
  std::istringstream lines(text_of(root / "docs/http-behaviour.md"));
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto cell = last_cell(line);
    if (cell.empty() || cell == "test") continue;
    ++rows;
    const auto names = quoted(cell);
    EXPECT_FALSE(names.empty()) << "a row without a test: " << line;
    for (const auto& n : names) EXPECT_TRUE(tests.contains(n)) << n;
  }
  EXPECT_GT(rows, 60U);
}

}  // namespace
