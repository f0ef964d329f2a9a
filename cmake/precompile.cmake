# Headers of libraries, read once for many source files: that takes a third off a build from nothing. No source file may
# rely on it: builds without ROTA_PRECOMPILE (lint's, for one) find the include that is missing.
set(ROTA_STANDARD_HEADERS <algorithm> <array> <bit> <chrono> <charconv> <cmath> <cstdint> <expected> <functional> <limits>
    <map> <memory> <optional> <queue> <set> <span> <string> <string_view> <utility> <variant> <vector>)

# rota_precompile(TARGET SET [header...]): the standard headers and these; targets that name one SET share the result.
function(rota_precompile target set)
  if(NOT ROTA_PRECOMPILE)
    return()
  endif()
  get_property(first GLOBAL PROPERTY ROTA_PRECOMPILED_${set})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ROTA_STANDARD_HEADERS} ${ARGN})
    set_property(GLOBAL PROPERTY ROTA_PRECOMPILED_${set} ${target})
  endif()
endfunction()
