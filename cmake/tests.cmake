# How tests get their names: GROUP.rest, where `./dev test GROUP` runs one group. A test that cannot run here says why
# in one line and is counted as skipped: GTEST_SKIP() in a program, exit code 77 in a script.
set(ROTA_SKIPPED 77)

# Each group stands in one build: what is small and asks for memory in the sanitized one, what runs the program as users have
# it in the release build. A preset names its list, `./dev` reads them here.
set(ROTA_GROUPS_sanitized unit property golden swarm foreign fuzz-short)
set(ROTA_GROUPS_release faces differential reproduce cli live sites accel docs tidy browser package bench-short)
set(ROTA_GROUPS_threads unit faces property live)

# rota_test_wanted(VARIABLE group): whether this build has that group of tests.
function(rota_test_wanted variable group)
  string(REGEX REPLACE "[.].*" "" group ${group})
  set(${variable} OFF PARENT_SCOPE)
  if(NOT ROTA_TEST_GROUPS OR group IN_LIST ROTA_GROUPS_${ROTA_TEST_GROUPS})
    set(${variable} ON PARENT_SCOPE)
  endif()
endfunction()

# rota_test_program(TARGET GROUP group SOURCES file... [LINKS target...] [SECONDS n]): a GoogleTest program; each of its
# tests becomes GROUP.Suite.name. Found when the tests run, not when they are built: a sanitizer's build needs no run.
# SECONDS: what its longest takes; with that they count as ones that compute, as in rota_test_takes.
function(rota_test_program target)
  cmake_parse_arguments(TEST "" "GROUP;SECONDS" "SOURCES;LINKS" ${ARGN})
  rota_test_wanted(wanted ${TEST_GROUP})
  if(NOT wanted)
    return()
  endif()
  add_executable(${target} ${TEST_SOURCES})
  target_link_libraries(${target} PRIVATE ${TEST_LINKS} GTest::gtest_main rapidcheck)
  rota_precompile(${target} tests)
  if(ROTA_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)  # that halves the time to compile them, and what they test is optimized
  endif()
  target_compile_definitions(${target} PRIVATE ROTA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(TEST_SECONDS)
    set(takes COST ${TEST_SECONDS} PROCESSORS 2)
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${TEST_GROUP}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 600
                       WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES TIMEOUT 1500 ${takes})
endfunction()

# rota_test_folder([LINKS target...] [SECONDS n]): every *_test.cc in this folder of tests/ is one program of its group.
function(rota_test_folder)
  cmake_parse_arguments(FOLDER "" "SECONDS" "LINKS" ${ARGN})
  get_filename_component(group ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  if(sources)
    rota_test_program(tests_${group} GROUP ${group} SOURCES ${sources} LINKS ${FOLDER_LINKS} SECONDS ${FOLDER_SECONDS})
  endif()
endfunction()

# rota_test_script(GROUP.name COMMAND program argument...): a test that is any other program.
function(rota_test_script name)
  cmake_parse_arguments(SCRIPT "" "" "COMMAND" ${ARGN})
  rota_test_wanted(wanted ${name})
  if(NOT wanted)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${SCRIPT_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE ${ROTA_SKIPPED} TIMEOUT 1500)
endfunction()

# rota_test_takes(SECONDS [COMPUTES] GROUP.name...): what these scripts take about, alone on two quiet cores. ctest begins with
# those that take longest, so that a run does not end with one of them. COMPUTES: for much of that time they keep a core busy
# or more; all others mostly wait, and `ctest -j` may have three times as many at a time as there are cores.
function(rota_test_takes seconds)
  cmake_parse_arguments(TAKES "COMPUTES" "" "" ${ARGN})
  set(processors 1)
  if(TAKES_COMPUTES)
    set(processors 2)
  endif()
  foreach(name ${TAKES_UNPARSED_ARGUMENTS})
    if(TEST ${name})
      set_tests_properties(${name} PROPERTIES COST ${seconds} PROCESSORS ${processors})
      math(EXPR patience "${seconds} * 30")
      if(patience GREATER 1500)
        set_tests_properties(${name} PROPERTIES TIMEOUT ${patience})
      endif()
    endif()
  endforeach()
endfunction()
