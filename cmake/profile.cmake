# Compiling by a recorded profile (g++ only): with ROTA_PROFILE=record the rooms that a rehearsal runs through count how
# often each branch is taken when profile/training.cc runs; with ROTA_PROFILE=use they are compiled by what it left
# (*.gcda), which `./dev build` puts beside the objects. Without such files, or where a function has changed since,
# the compiler goes on as usual.
set(ROTA_PROFILE "" CACHE STRING "record, use, or nothing")

function(rota_profile target)
  if(ROTA_PROFILE STREQUAL "record")
    target_compile_options(${target} PUBLIC -fprofile-generate -fprofile-update=single)
    target_link_options(${target} PUBLIC -fprofile-generate)
  elseif(ROTA_PROFILE STREQUAL "use")
    target_compile_options(${target} PRIVATE -fprofile-use -fprofile-partial-training -fprofile-correction
                           -Wno-missing-profile -Wno-coverage-mismatch)
  endif()
endfunction()
