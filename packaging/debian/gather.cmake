# Run by cpack once the files of the Debian package are gathered: what Debian has in other places than `cmake --install`,
# and what only a package has.
set(here ${CMAKE_CURRENT_LIST_DIR})
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(doc ${root}/usr/share/doc/rota)

file(MAKE_DIRECTORY ${root}/lib/systemd ${root}/usr/share/zsh)
file(RENAME ${root}/usr/lib/systemd/system ${root}/lib/systemd/system)
file(RENAME ${root}/usr/share/zsh/site-functions ${root}/usr/share/zsh/vendor-completions)

file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
file(COPY_FILE ${here}/changelog ${doc}/changelog.Debian)
execute_process(COMMAND gzip -9n ${doc}/changelog ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${here}/copyright ${doc}/copyright)
file(MAKE_DIRECTORY ${root}/usr/share/lintian/overrides ${root}/etc/rota)
file(COPY_FILE ${here}/lintian-overrides ${root}/usr/share/lintian/overrides/rota)
file(COPY_FILE ${doc}/examples/systemd/rota.toml ${root}/etc/rota/rota.toml)
