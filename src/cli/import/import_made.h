// Whether what stands in a folder was made by an earlier import, so that --overwrite may replace it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rota::cli {

// A file, packed or not, whose beginning has `mark` in it.
Result<void> check_made(const std::string& path, std::string_view mark);

// The folder `saved/`. It is kept, unless --live makes it anew: then it must be beside an import, and have nothing in
// it but what --live saves. With --anonymous there must be none, for names stand there.
Result<void> check_saved(const std::string& path, bool live, bool anonymous);

}  // namespace rota::cli
