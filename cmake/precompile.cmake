# Headers that many source files read, read once: of libraries, and the few of our own that are costly. That takes
# a third off a build from nothing. No source file may rely on it: builds without ROTA_PRECOMPILE (lint's, for one) find
# the include that is missing.
set(ROTA_STANDARD_HEADERS <fmt/core.h> <algorithm> <array> <bit> <chrono> <charconv> <cmath> <cstdint> <expected> <functional> <limits>
    <map> <memory> <optional> <queue> <set> <span> <string> <string_view> <utility> <variant> <vector>)
set(ROTA_PRECOMPILED_rooms ${ROTA_STANDARD_HEADERS})
# rooms that work on the state of a cluster
set(ROTA_PRECOMPILED_state ${ROTA_STANDARD_HEADERS} model/cluster.h)
# rooms around the service
set(ROTA_PRECOMPILED_service ${ROTA_STANDARD_HEADERS} <boost/asio/io_context.hpp> <boost/asio/steady_timer.hpp>
    control/controller.h)
set(ROTA_PRECOMPILED_api ${ROTA_PRECOMPILED_service} <nlohmann/json.hpp>)
# not CLI11: two source files read it, and all others would compile its global objects
set(ROTA_PRECOMPILED_cli ${ROTA_STANDARD_HEADERS} <nlohmann/json.hpp> log/workload.h report/outcome.h
    cli/live/service_client.h)
set(ROTA_PRECOMPILED_tests ${ROTA_STANDARD_HEADERS} <gtest/gtest.h> <rapidcheck/gtest.h> model/cluster.h)

# nlohmann/json.hpp without its two literals, which nothing here uses: for each file that reads it the compiler would make a
# JSON parser for them, in half a second.
if(ROTA_PRECOMPILE)
  find_file(ROTA_JSON_HEADER nlohmann/json.hpp REQUIRED)
  file(READ ${ROTA_JSON_HEADER} json)
  string(REGEX REPLACE "\ninline namespace literals\n{.*}  // namespace literals\n" "\n" without "${json}")
  string(PREPEND without "#define JSON_USE_GLOBAL_UDLS 0\n")
  set(kept ${PROJECT_BINARY_DIR}/include/nlohmann/json.hpp)
  set(before "")
  if(EXISTS ${kept})
    file(READ ${kept} before)
  endif()
  if(NOT before STREQUAL without)
    file(WRITE ${kept} "${without}")
  endif()
  include_directories(BEFORE SYSTEM ${PROJECT_BINARY_DIR}/include)
endif()

# rota_precompile(TARGET SET [VARIANT]): the headers of that set (above); targets that name one set share the result, as far as
# they are compiled with the same flags, which VARIANT tells apart.
function(rota_precompile target set)
  if(NOT ROTA_PRECOMPILE)
    return()
  endif()
  get_property(first GLOBAL PROPERTY ROTA_PRECOMPILED_BY_${set}${ARGN})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    list(TRANSFORM ROTA_PRECOMPILED_${set} REPLACE "^([a-z_/]+[.]h)$" "${PROJECT_SOURCE_DIR}/src/\\1")
    target_precompile_headers(${target} PRIVATE ${ROTA_PRECOMPILED_${set}})
    set_property(GLOBAL PROPERTY ROTA_PRECOMPILED_BY_${set}${ARGN} ${target})
    # CMake alone would not see that a list above has changed.
    set_property(SOURCE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.cxx
                 PROPERTY OBJECT_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/precompile.cmake)
  endif()
endfunction()
