# How Rota is compiled: warnings are errors where it is developed; sanitizers, link-time optimization and the extra targets are switches that
# the presets set.
option(ROTA_TESTS "build the tests" ON)
set(ROTA_TEST_GROUPS "" CACHE STRING "which groups of tests are built: sanitized, release or threads (cmake/tests.cmake); nothing: all of them")
option(ROTA_BENCH "build the benchmarks" OFF)
option(ROTA_FUZZ "build the fuzz targets, too, and all else so that they can look into it (clang only)" OFF)
option(ROTA_PRECOMPILE "precompile costly headers; ccache then helps little" OFF)
set(ROTA_SANITIZE "" CACHE STRING "sanitizers, as for -fsanitize=")

# Compilers that Rota is developed with. Others know other warnings, and nobody should be kept from building by these.
set(at_home OFF)
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12[.]")
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^19[.]"))
  set(at_home ON)
endif()
option(ROTA_WARNINGS_ARE_ERRORS "warnings end the build" ${at_home})

add_library(rota_flags INTERFACE)
target_compile_options(rota_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor)
if(ROTA_WARNINGS_ARE_ERRORS)
  target_compile_options(rota_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # g++ 12's own std::stable_sort calls what it marks as deprecated, and clang says so in our name
  target_compile_options(rota_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Without link-time optimization, and with what ThreadSanitizer adds, g++ 12 takes sound code of its own library for reads and
  # writes beyond an end. True ones show themselves under AddressSanitizer.
  target_compile_options(rota_flags INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
  # The compiler looks for memory to reuse only beyond 400 MB: that takes a tenth off its time.
  target_compile_options(rota_flags INTERFACE "SHELL:--param ggc-min-expand=100" "SHELL:--param ggc-min-heapsize=400000")
endif()
# Boost.Asio's own functions are compiled once (process/asio.cc, api/asio_tls.cc), and not by each file that includes it.
target_compile_definitions(rota_flags INTERFACE BOOST_ASIO_SEPARATE_COMPILATION)
# Fused multiply-add would give other last bits on machines that have it, and a seed would give another workload there.
target_compile_options(rota_flags INTERFACE -ffp-contract=off)
if(ROTA_SANITIZE)
  target_compile_options(rota_flags INTERFACE
    -fsanitize=${ROTA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(ROTA_SANITIZE MATCHES "undefined")
    # They double the time to compile, and a pointer that is null, misplaced or out of bounds shows itself under
    # AddressSanitizer.
    target_compile_options(rota_flags INTERFACE
      -fno-sanitize=null,alignment,vptr,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # Checks in a loop may keep the optimizer from unrolling it as it is asked to.
      target_compile_options(rota_flags INTERFACE -fno-sanitize=function -Wno-pass-failed)
    endif()
  endif()
  if(ROTA_SANITIZE MATCHES "thread")
    # ThreadSanitizer does not see fences; what Asio hands from thread to thread goes through its mutex as well.
    target_compile_definitions(rota_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
  target_link_options(rota_flags INTERFACE -fsanitize=${ROTA_SANITIZE})
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
