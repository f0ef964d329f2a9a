# rota_embed(TARGET FUNCTION file...): the files' bytes become part of the target, and the generated FUNCTION.cc defines
#   std::string_view rota::ROOM::FUNCTION(std::string_view name), of the room that TARGET, rota_ROOM, is
# which gives them by file name ("" for a name that is not there). The assembler reads them, so that size costs no
# compile time.
enable_language(ASM)
function(rota_embed target function)
  string(REGEX REPLACE "^rota_" "" room ${target})
  set(assembly "")
  set(declarations "")
  set(entries "")
  set(i 0)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    set(symbol rota_${function}_${i})
    string(APPEND assembly
      ".globl ${symbol}_begin\n.globl ${symbol}_end\n${symbol}_begin:\n.incbin \"${file}\"\n${symbol}_end:\n.byte 0\n")
    string(APPEND declarations "extern \"C\" const char ${symbol}_begin[];\nextern \"C\" const char ${symbol}_end[];\n")
    string(APPEND entries "  if (name == \"${name}\") return {${symbol}_begin, ${symbol}_end};\n")
    math(EXPR i "${i} + 1")
  endforeach()
  set(base ${CMAKE_CURRENT_BINARY_DIR}/${function})
  file(GENERATE OUTPUT ${base}.S CONTENT ".section .rodata\n${assembly}.section .note.GNU-stack,\"\",%progbits\n")
  file(GENERATE OUTPUT ${base}.cc CONTENT
"#include <string_view>
// NOLINTBEGIN(readability-identifier-naming): the assembler's symbols
${declarations}// NOLINTEND(readability-identifier-naming)
namespace rota::${room} {
std::string_view ${function}(std::string_view name);
std::string_view ${function}(std::string_view name) {
${entries}  return {};
}
}  // namespace rota::${room}
")
  set_source_files_properties(${base}.S PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_sources(${target} PRIVATE ${base}.S ${base}.cc)
endfunction()
