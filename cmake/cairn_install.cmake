# SPDX-License-Identifier: MIT
# The libraries as a game sees them: cairn::rules, cairn::sim, cairn::client, cairn::client_uv, cairn::server, cairn::storm,
# cairn::programs. Inside a build (add_subdirectory) each stands for the modules it consists of. `cmake --install` installs each
# as one static library and, apart from the storm and the programs, one shared library, for find_package(cairn) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The flags that rules need, in C and in C++, to compute the same bits everywhere (docs/DETERMINISM.md). A game may ask for
# fast-math in general; its rules must not have it.
add_library(cairn_rules_flags INTERFACE)
add_library(cairn::rules ALIAS cairn_rules_flags)
target_compile_options(cairn_rules_flags INTERFACE -fno-fast-math -ffp-contract=off -fno-math-errno
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-fno-tree-vectorize -fexcess-precision=fast>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-tree-vectorize>)
target_include_directories(cairn_rules_flags INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(cairn_rules_flags PROPERTIES EXPORT_NAME rules)

option(CAIRN_INSTALL "Build what `cmake --install` installs" ${PROJECT_IS_TOP_LEVEL})
set(shared ${CAIRN_HARDEN}) # without it the objects are not position independent
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
string(REGEX MATCH "^[0-9]+" major ${PROJECT_VERSION})

# The functions that public headers declare, as the names that a shared library exports.
function(cairn_public_functions out)
    set(all "")
    foreach(header ${ARGN})
        set(path ${PROJECT_SOURCE_DIR}/include/cairn/${header}.h)
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
        file(READ ${path} text)
        string(REGEX REPLACE "//[^\n]*" "" text "${text}")
        string(REGEX MATCHALL "cairn_[a-z0-9_]+\\(" names "${text}")
        list(APPEND all ${names})
    endforeach()
    list(REMOVE_DUPLICATES all)
    list(SORT all)
    string(REPLACE "(" "" all "${all}")
    set(${out} ${all} PARENT_SCOPE)
endfunction()

function(cairn_install_library target kind name)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME cairn_${name} EXPORT_NAME ${name}_${kind} LINKER_LANGUAGE C
        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
    target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    # A program that is linked with fast-math starts with a processor mode in which a client would be refused.
    target_link_options(${target} INTERFACE -fno-fast-math)
    install(TARGETS ${target} EXPORT cairn_${name}_${kind}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
    install(EXPORT cairn_${name}_${kind} FILE cairn_${name}_${kind}.cmake NAMESPACE cairn:: DESTINATION ${package}
        COMPONENT development)
endfunction()

# cairn_product(NAME client ROOMS client_lib base ... HEADERS client sim ... [FUNCTIONS cairnd_main] [PRODUCTS sim]
#     [LIBRARIES PkgConfig::X m] [PACKAGES libsodium] [LENDS] [OPTIONS -Wl,...])
# ROOMS are all modules in it, HEADERS those of which a shared library exports the functions, with FUNCTIONS (none: there is
# no shared library). PRODUCTS are linked with it. LENDS: a program with the static library loads rules files, and lends them
# its functions (rules_file/CMakeLists.txt). OPTIONS are of every link with it.
function(cairn_product)
    cmake_parse_arguments(P "LENDS" "NAME" "ROOMS;HEADERS;FUNCTIONS;PRODUCTS;LIBRARIES;PACKAGES;OPTIONS" ${ARGN})
    list(TRANSFORM P_ROOMS PREPEND cairn_ OUTPUT_VARIABLE rooms)
    set(build cairn_${P_NAME}_build)
    add_library(${build} INTERFACE)
    add_library(cairn::${P_NAME} ALIAS ${build})
    target_link_libraries(${build} INTERFACE ${rooms})
    target_include_directories(${build} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    if(P_NAME STREQUAL "sim")
        target_link_libraries(${build} INTERFACE cairn_rules_flags)
        set(P_INTERFACE cairn_rules_flags)
    endif()
    if(NOT CAIRN_INSTALL)
        return()
    endif()
    set(objects "")
    foreach(room ${rooms})
        list(APPEND objects $<TARGET_OBJECTS:${room}>)
        get_target_property(others ${room} CAIRN_OBJECTS)
        if(others)
            list(APPEND objects ${others})
        endif()
    endforeach()
    list(TRANSFORM P_PRODUCTS REPLACE "(.+)" "cairn_\\1_static" OUTPUT_VARIABLE static_products)
    add_library(cairn_${P_NAME}_static STATIC ${objects})
    target_link_libraries(cairn_${P_NAME}_static PUBLIC ${static_products} ${P_INTERFACE} PRIVATE ${P_LIBRARIES})
    if(P_LENDS)
        target_link_options(cairn_${P_NAME}_static INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:LINKER:-u,cairn_rules_may_import>
            $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:LINKER:--dynamic-list=$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/cairn/rules.list>)
        list(APPEND P_OPTIONS_PKGCONFIG -Wl,-u,cairn_rules_may_import -Wl,--dynamic-list=\${libdir}/cairn/rules.list)
    endif()
    target_link_options(cairn_${P_NAME}_static INTERFACE ${P_OPTIONS})
    list(JOIN P_OPTIONS_PKGCONFIG " " options)
    list(JOIN P_OPTIONS " " P_OPTIONS)
    string(APPEND options " ${P_OPTIONS}")
    cairn_install_library(cairn_${P_NAME}_static static ${P_NAME})
    cairn_install_pkgconfig(${P_NAME} "${P_PRODUCTS}" "${P_PACKAGES}" "${P_LIBRARIES}" "${options}")
    if(NOT shared OR NOT P_HEADERS)
        return()
    endif()
    cairn_public_functions(names ${P_HEADERS})
    list(APPEND names ${P_FUNCTIONS})
    list(JOIN names "; " names)
    set(map ${PROJECT_BINARY_DIR}/lib/cairn_${P_NAME}.map)
    file(CONFIGURE OUTPUT ${map} CONTENT "CAIRN_${major} { global: @names@; local: *; };\n" @ONLY)
    list(TRANSFORM P_PRODUCTS REPLACE "(.+)" "cairn_\\1_shared" OUTPUT_VARIABLE shared_products)
    add_library(cairn_${P_NAME}_shared SHARED ${objects})
    target_link_libraries(cairn_${P_NAME}_shared PUBLIC ${shared_products} ${P_INTERFACE} PRIVATE ${P_LIBRARIES})
    target_link_options(cairn_${P_NAME}_shared PRIVATE LINKER:-Bsymbolic LINKER:-z,defs ${cairn_harden_library}
        LINKER:--version-script=${map})
    set_target_properties(cairn_${P_NAME}_shared PROPERTIES LINK_DEPENDS ${map}
        VERSION ${PROJECT_VERSION} SOVERSION ${major})
    cairn_install_library(cairn_${P_NAME}_shared shared ${P_NAME})
endfunction()

# cairn-client.pc and so on: --static adds what a static library needs.
function(cairn_install_pkgconfig name products packages libraries options)
    list(TRANSFORM products PREPEND cairn-)
    list(JOIN products ", " requires)
    list(JOIN packages ", " requires_private)
    list(FILTER libraries EXCLUDE REGEX "::")
    list(TRANSFORM libraries PREPEND -l)
    list(JOIN libraries " " libs_private)
    set(flags "")
    if(name STREQUAL "sim")
        set(flags "-fno-fast-math -ffp-contract=off")
    endif()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lib/cairn-${name}.pc @ONLY CONTENT [=[
prefix=${pcfiledir}/@up@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
Name: cairn-@name@
Description: deterministic networked physics, @name@
Version: @PROJECT_VERSION@
Requires: @requires@
Requires.private: @requires_private@
Cflags: -I${includedir} @flags@
Libs: -L${libdir} -lcairn_@name@
Libs.private: @options@ @libs_private@
]=])
    install(FILES ${PROJECT_BINARY_DIR}/lib/cairn-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
endfunction()

set(sim_headers sim events articulation fracture history watch math measure mover rollback rules joint debug_draw types status version)
cairn_product(NAME sim ROOMS sim base HEADERS ${sim_headers} LIBRARIES m)
if(TARGET cairn_rules_file)
    set(rules_file rules_file)
    list(APPEND sim_headers rules_registry rules_file)
endif()
set(client_rooms ${rules_file} client_lib recorder bridge net schema compress checksum sim base)
cairn_product(NAME client ROOMS ${client_rooms} HEADERS ${sim_headers} client control control_requests token LIBRARIES PkgConfig::SODIUM m ${CMAKE_DL_LIBS} PACKAGES libsodium)
if(TARGET cairn_client_uv)
    cairn_product(NAME client_uv ROOMS client_uv base HEADERS client_uv PRODUCTS client LIBRARIES PkgConfig::LIBUV PACKAGES libuv)
endif()
if(TARGET cairn_server_uv)
    # With cairnd as a function (cairn/programs.h).
    set(server_rooms cairnd agones web daemon record_file control_words program rules_trial scene_file ${rules_file} server_uv server recording scene_worlds scene
        recorder bridge net schema compress checksum sim base)
    set(server_libraries PkgConfig::SODIUM PkgConfig::ZSTD PkgConfig::LIBUV PkgConfig::JANSSON PkgConfig::WEBSOCKETS m ${CMAKE_DL_LIBS})
    cairn_product(NAME server ROOMS ${server_rooms} LIBRARIES ${server_libraries} PACKAGES libsodium libzstd libuv jansson libwebsockets
        HEADERS ${sim_headers} scene server server_lag server_statistics server_uv recording token FUNCTIONS cairnd_main LENDS)
endif()
if(TARGET cairn_storm)
    cairn_product(NAME storm ROOMS storm client_probe PRODUCTS server client)
endif()
if(TARGET cairn_bot)
    # The other programs as functions. cairn-replay steps worlds that it damages on purpose.
    cairn_product(NAME programs ROOMS bot ctl rules replay_verbs replay shrink_parts explain picture gltf workers fused
        PRODUCTS storm client_uv server client LIBRARIES PkgConfig::PNG PkgConfig::VPX m PACKAGES libpng vpx
        OPTIONS -Wl,--wrap=cairn_world_validate)
    if(TARGET cairn_programs_static)
        add_dependencies(cairn_programs_static cairn_fused)
    endif()
endif()

if(CAIRN_INSTALL)
    install(TARGETS cairn_rules_flags EXPORT cairn_rules)
    install(EXPORT cairn_rules FILE cairn_rules.cmake NAMESPACE cairn:: DESTINATION ${package} COMPONENT development)
    if(TARGET cairn_rules_file)
        install(FILES ${PROJECT_BINARY_DIR}/rules_file/exported.list RENAME rules.list
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/cairn COMPONENT development)
    endif()
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cairn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
    configure_package_config_file(cmake/cairnConfig.cmake.in ${PROJECT_BINARY_DIR}/cairnConfig.cmake
        INSTALL_DESTINATION ${package})
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/cairnConfig.cmake ${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)
    foreach(program cairnd cairn-token cairn-ctl cairn-bot cairn-load cairn-replay cairn-rules cairn-scene cairn-demo)
        if(TARGET ${program})
            install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
            # Each program prints its manual page and its completion from its table of flags.
            set(manual ${PROJECT_BINARY_DIR}/manual/${program}.1)
            set(completion ${PROJECT_BINARY_DIR}/manual/${program})
            add_custom_command(OUTPUT ${manual} ${completion}
                COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/manual
                COMMAND ${program} --manual > ${manual}
                COMMAND ${program} --completion > ${completion}
                DEPENDS ${program} VERBATIM)
            list(APPEND manuals ${manual})
            install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs)
            install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
        endif()
    endforeach()
    if(TARGET cairnd)
        # Of the file of --config.
        set(config_schema ${PROJECT_BINARY_DIR}/manual/cairnd.schema.json)
        add_custom_command(OUTPUT ${config_schema} COMMAND cairnd --schema > ${config_schema} DEPENDS cairnd VERBATIM)
        list(APPEND manuals ${config_schema})
        install(FILES ${config_schema} DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn COMPONENT programs)
    endif()
    add_custom_target(cairn_manuals ALL DEPENDS ${manuals})
    # The page, if `./dev web` has built it: where cairnd --web looks for it.
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/web DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn COMPONENT programs OPTIONAL)
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/monitoring/cairn-alerts.yml
            ${PROJECT_SOURCE_DIR}/packaging/monitoring/cairn-dashboard.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn/monitoring COMPONENT programs)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/agones DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn COMPONENT programs)
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/apparmor/usr.bin.cairnd
        DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn/apparmor COMPONENT programs)
endif()
