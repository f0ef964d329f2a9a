// The files of page/ and D3, as they were when Rota was built. (cmake/embed.cmake writes the definition.)
#pragma once

#include <string_view>

namespace rota::report {

// By file name without folder: "style.css". "" for a name that is not there.
std::string_view page_file(std::string_view name);

}  // namespace rota::report
