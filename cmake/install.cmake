# `cmake --install build/release --prefix DIR`: the binary, and the man pages and shell completions, which it prints.
include(GNUInstallDirs)
if(TARGET rota)
  install(TARGETS rota)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share)
  # rota_printed(FILE FOLDER argument...): FILE is what `rota argument...` prints; it is installed into FOLDER.
  function(rota_printed file folder)
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:rota>\" ${ARGN}
      OUTPUT_FILE \"${PROJECT_BINARY_DIR}/share/${file}\" COMMAND_ERROR_IS_FATAL ANY)")
    install(FILES ${PROJECT_BINARY_DIR}/share/${file} DESTINATION ${folder})
  endfunction()
  install(CODE "execute_process(COMMAND \"$<TARGET_FILE:rota>\" manual --all \"${PROJECT_BINARY_DIR}/share/man1\"
    COMMAND_ERROR_IS_FATAL ANY)")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  rota_printed(rota ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
  rota_printed(_rota ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
  rota_printed(rota.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
