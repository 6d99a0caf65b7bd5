#include "support/temporary_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace idem::test {

temporary_folder::temporary_folder() {
  auto pattern = (std::filesystem::temp_directory_path() / "idem-test-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder: " + pattern);
  path_ = pattern;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string temporary_folder::write(std::string_view name, std::string_view content) const {
  const auto where = path_ / name;
  std::filesystem::create_directories(where.parent_path());
  std::ofstream(where, std::ios::binary) << content;
  return where.string();
}

}  // namespace idem::test
