# `cmake --install build/release --prefix DIR`: the binary, and the man page and shell completions it prints.
include(GNUInstallDirs)
if(TARGET rota)
  install(TARGETS rota)
  # rota_printed(FILE FOLDER argument...): FILE is what `rota argument...` prints; it is installed into FOLDER.
  function(rota_printed file folder)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/share/${file}
      COMMAND rota ${ARGN} > ${PROJECT_BINARY_DIR}/share/${file}
      DEPENDS rota VERBATIM)
    install(FILES ${PROJECT_BINARY_DIR}/share/${file} DESTINATION ${folder})
    set_property(GLOBAL APPEND PROPERTY ROTA_PRINTED ${PROJECT_BINARY_DIR}/share/${file})
  endfunction()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share)
  rota_printed(rota.1 ${CMAKE_INSTALL_MANDIR}/man1 manual)
  rota_printed(rota ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
  rota_printed(_rota ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
  rota_printed(rota.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
  get_property(printed GLOBAL PROPERTY ROTA_PRINTED)
  add_custom_target(manual ALL DEPENDS ${printed})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
