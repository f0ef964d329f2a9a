#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace rota {

void check_failed(const char* condition, const char* promise, const char* file, int line) {
  std::fprintf(
      stderr, "rota: defect in Rota at %s:%d: %s (%s does not hold). Please report it with the command that you ran.\n",
      file, line, promise, condition);
  std::abort();
}

}  // namespace rota
