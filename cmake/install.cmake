# `cmake --install build/release --prefix DIR`: the program, the manual pages and completions that it prints, systemd's
# units, documents and examples. Nothing is written into the build tree, so that root may install what a user has built.
include(GNUInstallDirs)
if(TARGET rota)
  install(TARGETS rota)
  install(CODE "set(rota \"$<TARGET_FILE:rota>\")\nset(sources \"${PROJECT_SOURCE_DIR}\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/packaging/made.cmake)
endif()
if(TARGET rota-etcd)  # by itself: `cmake --install build/release --component etcd`; nothing else needs gRPC
  install(TARGETS rota-etcd LIBRARY DESTINATION lib/rota COMPONENT etcd EXCLUDE_FROM_ALL)
endif()
if(TARGET rota-accel)  # a client for programs, by itself as well: `--component accel`
  install(TARGETS rota-accel LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT accel EXCLUDE_FROM_ALL)
  install(FILES src/accel/backend_abi.h DESTINATION include/rota/accel COMPONENT accel EXCLUDE_FROM_ALL)
  install(FILES src/accel/client/client_abi.h DESTINATION include/rota/accel/client COMPONENT accel EXCLUDE_FROM_ALL)
  install(FILES src/accel_client/rota_accel.py DESTINATION lib/rota COMPONENT accel EXCLUDE_FROM_ALL)
endif()
if(TARGET rota-accel-images)
  install(TARGETS rota-accel-images rota-accel-cuda LIBRARY DESTINATION lib/rota COMPONENT accel EXCLUDE_FROM_ALL)
endif()
foreach(backend openblas opencl)
  if(TARGET rota-accel-${backend})
    install(TARGETS rota-accel-${backend} LIBRARY DESTINATION lib/rota COMPONENT accel-${backend} EXCLUDE_FROM_ALL)
  endif()
endforeach()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS
        PATTERN examples/systemd EXCLUDE)
include(packaging/deb.cmake)
# What CMake would do last is to write a list of what was installed into the build tree.
install(CODE "return()")
