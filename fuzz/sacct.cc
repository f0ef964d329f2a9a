// Any bytes as the output of sacct: never a crash, and what is read holds what the headers promise.
#include "log/sacct.h"

#include "fuzz/accounts.h"

using namespace rota::log;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto strict = read_sacct_log(LineBlocks::over(text, "fuzz.txt"), {});
  if (strict) check_rows(*strict);
  if (!strict) check_sentence(strict.error().message);
  const auto workload = parse_sacct(text, "fuzz.txt", {.skip_bad_rows = true, .keep_cancelled = true});
  CHECK(!strict || workload, "skipping bad rows reads no less");
  if (!workload) return 0;
  check_times(*workload);
  return 0;
}
