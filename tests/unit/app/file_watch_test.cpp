#include "app/file_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "support/temporary_folder.hpp"

namespace idem::app {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A watch of `etc/proxy.yaml` in a folder of its own.
class a_watched_file : public testing::Test {
 protected:
  fs::path at(const char* name) const { return folder_.path() / name; }
  static void write(const fs::path& file) { std::ofstream(file) << "text"; }

  void begin() {
    ASSERT_TRUE(watch_.open());
    watch_again();
    EXPECT_FALSE(is_told(20ms)) << "nothing changed yet";
  }
  void watch_again() { watch_.watch({at("etc/proxy.yaml").string()}); }
  /// Whether a change was told since the last time; watches the way anew, as who is told does.
  bool is_told(std::chrono::milliseconds limit = 5s) {
    told_ = 0;
    const auto end = std::chrono::steady_clock::now() + limit;
    io_.restart();
    while (told_ == 0 && std::chrono::steady_clock::now() < end) io_.run_one_for(5ms);
    io_.poll();
    watch_again();
    return told_ > 0;
  }

  test::temporary_folder folder_;
  net::asio::io_context io_{1};
  int told_ = 0;
  file_watch watch_{io_, [this] { ++told_; }};
};

TEST_F(a_watched_file, in_a_folder_that_cannot_be_watched_is_told_apart_from_one_that_is_not_there) {
  ASSERT_TRUE(watch_.open());
  EXPECT_EQ(watch_.watch({at("none/proxy.yaml").string()}), "");
  write(at("file"));
  EXPECT_EQ(watch_.watch({at("file/proxy.yaml").string()}), "");
  std::string deep = folder_.path().string();
  while (deep.size() < 5000) deep += "/a";  // no system call takes such a path
  EXPECT_NE(watch_.watch({deep}), "");
}

TEST_F(a_watched_file, is_written_replaced_removed_and_made_again) {
  fs::create_directory(at("etc"));
  write(at("etc/proxy.yaml"));
  begin();
  write(at("etc/proxy.yaml"));
  EXPECT_TRUE(is_told());
  write(at("etc/new"));
  EXPECT_FALSE(is_told(50ms)) << "of a neighbour nothing is told";
  fs::rename(at("etc/new"), at("etc/proxy.yaml"));
  EXPECT_TRUE(is_told());
  fs::remove(at("etc/proxy.yaml"));
  EXPECT_TRUE(is_told());
  write(at("etc/proxy.yaml"));
  EXPECT_TRUE(is_told());
}

TEST_F(a_watched_file, may_be_read_after_all) {
  fs::create_directory(at("etc"));
  write(at("etc/proxy.yaml"));
  fs::permissions(at("etc/proxy.yaml"), fs::perms::none);
  begin();
  fs::permissions(at("etc/proxy.yaml"), fs::perms::owner_read);
  EXPECT_TRUE(is_told());
}

TEST_F(a_watched_file, that_a_link_names_is_written_and_replaced_where_it_is) {
  fs::create_directory(at("etc"));
  fs::create_directory(at("one"));
  fs::create_directory(at("two"));
  write(at("one/real.yaml"));
  write(at("two/real.yaml"));
  fs::create_symlink("../one/real.yaml", at("etc/proxy.yaml"));
  begin();
  write(at("one/real.yaml"));
  EXPECT_TRUE(is_told());
  write(at("one/new"));
  fs::rename(at("one/new"), at("one/real.yaml"));
  EXPECT_TRUE(is_told());

  fs::create_symlink(at("two/real.yaml"), at("etc/link"));
  fs::rename(at("etc/link"), at("etc/proxy.yaml"));
  EXPECT_TRUE(is_told()) << "the link is another";
  write(at("two/real.yaml"));
  EXPECT_TRUE(is_told()) << "in the folder where it leads now";
  write(at("one/real.yaml"));
  EXPECT_FALSE(is_told(50ms)) << "and not where it led before";
}

TEST_F(a_watched_file, whose_folder_is_swapped_is_watched_in_the_new_one) {
  for (const auto* name : {"etc", "next"}) {
    fs::create_directory(at(name));
    write(at(name) / "proxy.yaml");
  }
  begin();
  fs::rename(at("etc"), at("old"));
  EXPECT_FALSE(is_told(50ms)) << "between the two there is no file to read";
  fs::rename(at("next"), at("etc"));
  EXPECT_TRUE(is_told());
  write(at("etc/proxy.yaml"));
  EXPECT_TRUE(is_told());
}

TEST_F(a_watched_file, in_a_folder_that_a_link_names_is_watched_where_the_link_leads) {
  for (const auto* name : {"one", "two"}) {
    fs::create_directory(at(name));
    write(at(name) / "proxy.yaml");
  }
  fs::create_directory_symlink("one", at("etc"));
  begin();
  fs::create_directory_symlink("two", at("link"));
  fs::rename(at("link"), at("etc"));
  EXPECT_TRUE(is_told());
  write(at("two/proxy.yaml"));
  EXPECT_TRUE(is_told());
}

}  // namespace
}  // namespace idem::app
