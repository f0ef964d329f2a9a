# Run by `cmake --install` (cmake/install.cmake): installs what the program prints of itself, and what names the place where
# it is installed. All of it is made in a folder of its own, which is gone afterwards.
execute_process(COMMAND mktemp -d OUTPUT_VARIABLE made OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

function(rota_printed file folder)  # FILE in FOLDER is what `rota argument...` prints
  execute_process(COMMAND ${rota} ${ARGN} OUTPUT_FILE ${made}/${file} COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/share/${folder} TYPE FILE FILES ${made}/${file})
endfunction()
rota_printed(rota bash-completion/completions completion bash)
rota_printed(_rota zsh/site-functions completion zsh)
rota_printed(rota.fish fish/vendor_completions.d completion fish)

execute_process(COMMAND ${rota} manual --all ${made}/man1 COMMAND_ERROR_IS_FATAL ANY)
file(GLOB pages ${made}/man1/*.1)
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB pages ${made}/man1/*.1.gz)
file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/share/man/man1 TYPE FILE FILES ${pages})

function(rota_placed folder)  # files of examples/systemd in FOLDER, with the program where it is
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME)
    file(READ ${source} text)
    string(REPLACE /usr/local/bin/rota ${CMAKE_INSTALL_PREFIX}/bin/rota text "${text}")
    file(WRITE ${made}/${folder}/${name} "${text}")
    file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/${folder} TYPE FILE FILES ${made}/${folder}/${name})
  endforeach()
endfunction()
foreach(of system user)
  file(GLOB units ${sources}/examples/systemd/${of}/rota*)
  rota_placed(lib/systemd/${of} ${units})
endforeach()
file(GLOB units ${sources}/examples/systemd/slurm/rota*)
rota_placed(share/doc/rota/examples/systemd/slurm ${units})
rota_placed(share/doc/rota/examples/systemd ${sources}/examples/systemd/rota.toml ${sources}/examples/systemd/one-user.conf)
file(REMOVE_RECURSE ${made})
