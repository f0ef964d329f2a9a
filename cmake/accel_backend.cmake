# rota_accel_backend(NAME [LINKS library...]): a backend of accelerator containers, `librota-accel-NAME.so`, of the files in
# this folder. It is no room: it knows the C interface accel/backend_abi.h and, of linear algebra, accel_matrix.
function(rota_accel_backend name)
  cmake_parse_arguments(BACKEND "" "" "LINKS" ${ARGN})
  set(target rota-accel-${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_library(${target} MODULE ${sources})
  target_compile_features(${target} PRIVATE cxx_std_23)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE ${BACKEND_LINKS})
  if(TARGET rota_flags)
    target_link_libraries(${target} PRIVATE rota_flags)
  endif()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/exports.map CONTENT "{ global: rota_accel_backend_entry; local: *; };\n")
  # nodelete: libraries of devices have threads of their own.
  target_link_options(${target} PRIVATE LINKER:-z,nodelete LINKER:--version-script=${CMAKE_CURRENT_BINARY_DIR}/exports.map)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/exports.map)
  if(CMAKE_RUNTIME_OUTPUT_DIRECTORY)  # beside the program
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  endif()
  add_dependencies(rota ${target})
endfunction()
