#include "trace/workload.h"

namespace rota::trace {

void ImportReport::note(const char* what, std::int64_t line) {
  for (Finding& finding : findings) {
    if (finding.what != what) continue;
    ++finding.rows;
    return;
  }
  findings.push_back({what, 1, line});
}

}  // namespace rota::trace
