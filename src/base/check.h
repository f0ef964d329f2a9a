// CHECK(condition, "what was promised"): ends the process when Rota itself is wrong. On in release builds too.
#pragma once

namespace rota {
[[noreturn]] void check_failed(const char* condition, const char* promise, const char* file, int line);
}  // namespace rota

#define CHECK(condition, promise)                                    \
  do {                                                               \
    if (!(condition)) [[unlikely]]                                   \
      ::rota::check_failed(#condition, promise, __FILE__, __LINE__); \
  } while (false)
