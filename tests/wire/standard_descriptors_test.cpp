// The program where whoever started it has closed what everybody writes to.
#include <filesystem>

#include "wire/wire.hpp"

namespace idem::test {
namespace {

TEST(closed_standard_descriptors, are_taken_by_nothing_that_the_process_opens) {
  const temporary_folder folder;
  const auto program = folder.write("proxy", "#!/bin/sh\nexec '" IDEM_BINARY "' \"$@\" <&- >&- 2>&-\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const host backend;
  proxy_settings settings;
  settings.upstream = backend.url();
  settings.binary = program;
  const proxy_process proxy(settings);
  const std::filesystem::path open = "/proc/" + std::to_string(proxy.pid()) + "/fd";
  for (const auto* number : {"0", "1", "2"}) EXPECT_EQ(std::filesystem::read_symlink(open / number), "/dev/null");
}

}  // namespace
}  // namespace idem::test
