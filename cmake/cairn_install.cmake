# SPDX-License-Identifier: MIT
# What `cmake --install build/release --component sim --prefix DIR` leaves for a game's rules: the public headers, the
# libraries base and sim, and a package for find_package(cairn). Who links cairn::sim gets the flags of the determinism
# contract with it, for C and for C++.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(cairn_base PROPERTIES EXPORT_NAME base)
set_target_properties(cairn_sim PROPERTIES EXPORT_NAME sim)
set_target_properties(cairn_float PROPERTIES EXPORT_NAME float)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
install(TARGETS cairn_base cairn_sim cairn_float EXPORT cairn_targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sim)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cairn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT sim)
install(EXPORT cairn_targets FILE cairnConfig.cmake NAMESPACE cairn:: DESTINATION ${package} COMPONENT sim)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake DESTINATION ${package} COMPONENT sim)
