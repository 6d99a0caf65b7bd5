// faults_test [--seed N] [--seconds N]: the same as IDEM_FAULTS_SEED and IDEM_FAULTS_SECONDS.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--seed") ::setenv("IDEM_FAULTS_SEED", argv[i + 1], 1);
    if (flag == "--seconds") ::setenv("IDEM_FAULTS_SECONDS", argv[i + 1], 1);
  }
  return RUN_ALL_TESTS();
}
