// Any bytes as an accounting log of PBS.
#include "log/pbs.h"

#include "fuzz/accounts.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rota::log::read_accounts({data, data + size}, rota::log::read_pbs_log);
  return 0;
}
