// A folder of its own for a test, gone with its contents at the end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace idem::test {

class temporary_folder {
 public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file, with the folders on the way to it, and returns its whole path.
  std::string write(std::string_view name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace idem::test
