# The Debian package: `cpack -G DEB` in a build tree, as `./dev package` does.
set(CPACK_PACKAGE_NAME rota)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Rota's maintainers <rota@localhost>")
if(DEFINED ENV{DEBEMAIL})  # Debian's custom
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "scheduler of batch jobs, live and rehearsed")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Rota keeps a durable queue of batch jobs on a computer and runs them by
policies from the literature. The same controller rehearses any workload
under any of them: logs of Slurm, PBS, LSF and others, generated ones, and
what a service has really run.

This package starts a service for all users of the computer.")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, debconf (>= 0.5) | debconf-2.0")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libhwloc15, tzdata")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ca-certificates")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)  # which also strips the program
set(CPACK_SET_DESTDIR ON)  # so that files know their place, which is not the one where they are gathered
set(CPACK_INSTALL_PREFIX /usr)
set(debian ${PROJECT_SOURCE_DIR}/packaging/debian)
set(CPACK_PRE_BUILD_SCRIPTS ${debian}/gather.cmake)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/postinst ${debian}/prerm ${debian}/postrm ${debian}/templates ${debian}/config
    ${debian}/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
