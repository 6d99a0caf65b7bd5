#include "config/threads.hpp"

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace idem::config {
namespace {

using idem::test::temporary_folder;

TEST(automatic_threads, are_the_processors_without_a_quota_but_at_most_four) {
  const temporary_folder root;
  EXPECT_EQ(automatic_threads(root.path(), 2), 2u);
  EXPECT_EQ(automatic_threads(root.path(), 64), 4u);
  EXPECT_EQ(automatic_threads(root.path(), 0), 1u) << "unknown";
}

TEST(automatic_threads, a_quota_of_version_2_is_rounded_up) {
  const temporary_folder root;
  root.write("proc/self/cgroup", "0::/pod/app\n");
  root.write("sys/fs/cgroup/pod/app/cpu.max", "150000 100000\n");
  EXPECT_EQ(automatic_threads(root.path(), 64), 2u);
  root.write("sys/fs/cgroup/pod/app/cpu.max", "10000 100000\n");
  EXPECT_EQ(automatic_threads(root.path(), 64), 1u);
  root.write("sys/fs/cgroup/pod/app/cpu.max", "max 100000\n");
  EXPECT_EQ(automatic_threads(root.path(), 64), 4u);
}

TEST(automatic_threads, a_quota_further_up_holds_as_well) {
  const temporary_folder root;
  root.write("proc/self/cgroup", "0::/pod/app\n");
  root.write("sys/fs/cgroup/pod/app/cpu.max", "400000 100000\n");
  root.write("sys/fs/cgroup/pod/cpu.max", "300000 100000\n");
  EXPECT_EQ(automatic_threads(root.path(), 64), 3u);
}

TEST(automatic_threads, a_container_sees_its_quota_at_the_root_of_the_mount) {
  const temporary_folder root;
  root.write("proc/self/cgroup", "0::/../not/visible/here\n");
  root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(automatic_threads(root.path(), 64), 2u);
}

TEST(automatic_threads, a_quota_of_version_1_counts_too) {
  const temporary_folder root;
  root.write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/y\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(automatic_threads(root.path(), 64), 3u);
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(automatic_threads(root.path(), 64), 4u);
}

TEST(automatic_threads, a_quota_larger_than_the_machine_adds_nothing) {
  const temporary_folder root;
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/cpu.max", "800000 100000\n");
  EXPECT_EQ(automatic_threads(root.path(), 2), 2u);
}

TEST(automatic_threads, broken_files_are_no_quota) {
  const temporary_folder root;
  root.write("proc/self/cgroup", "nonsense\n0:\n\n");
  root.write("sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_EQ(automatic_threads(root.path(), 3), 3u);
}

}  // namespace
}  // namespace idem::config
