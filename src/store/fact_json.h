// Facts as JSON lines for people: {"at":1000,"sequence":7,"kind":"finished","job":3,"outcome":"failed"}. The fields
// follow by name, as docs/journal.md lists them; what has its default is left out.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/fact.h"

namespace rota::store {

// The line without its newline.
std::string fact_line(const FactRef& fact);

// The same back. The error is a whole sentence without file and line.
Result<Fact> read_fact_line(std::string_view line);

}  // namespace rota::store
