// idem_micro                            runs all in Google Benchmark, with its options
// idem_micro --count NAME ITERATIONS    runs one, or `all`, so often and nothing else, for valgrind --tool=callgrind
//                                       --instr-atstart=no: one dump for each, which bears its name
// idem_micro --compiler                 what the program was compiled with
#include <benchmark/benchmark.h>
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "operation.hpp"

namespace {

// what an operation allocates once, it has after these
constexpr int warm_up = 20;

int count(std::string_view name, int iterations) {
  bool found = false;
  for (const auto& o : idem::bench::operations()) {
    if (name != "all" && name != o.name) continue;
    found = true;
    const auto once = o.make();
    for (int i = 0; i < warm_up; ++i) once();
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i < iterations; ++i) once();
    CALLGRIND_DUMP_STATS_AT(o.name.c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
  }
  if (!found) std::fprintf(stderr, "idem_micro: no operation '%.*s'\n", static_cast<int>(name.size()), name.data());
  return found ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--compiler") == 0) return std::puts(__VERSION__) < 0 ? 1 : 0;
  if (argc == 4 && std::strcmp(argv[1], "--count") == 0) return count(argv[2], std::atoi(argv[3]));
  for (const auto& o : idem::bench::operations()) {
    benchmark::RegisterBenchmark(o.name.c_str(), [make = o.make](benchmark::State& state) {
      const auto once = make();
      for (auto _ : state) once();
    });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
