# SPDX-License-Identifier: MIT

# Folders whose sources give the fuzzers feedback if the flags do not ask for it everywhere: a whole session steps worlds
# most of the time, and the branches of solvers say nothing about the server. In the preset asan the targets' own files alone
# do: its runs are too short for more, and every other test would pay for it.
# Where no constant of a format is compared, the operands of comparisons say nothing, and a quarter of a session is their calls.
set(CAIRN_FUZZ_FOLDERS "" CACHE STRING "Instrument these folders for libFuzzer")
set(CAIRN_FUZZ_EDGES "" CACHE STRING "Those of them whose edges are counted and nothing else")
list(JOIN CAIRN_FUZZ_FOLDERS "|" cairn_fuzz_folders)
list(JOIN CAIRN_FUZZ_EDGES "|" cairn_fuzz_edges)
function(cairn_fuzz_sources)
    foreach(source ${ARGN})
        cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
        cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
        if(CAIRN_FUZZ_FOLDERS AND path MATCHES "^(${cairn_fuzz_folders})/")
            set(flags -fsanitize=fuzzer-no-link)
            if(CAIRN_FUZZ_EDGES AND path MATCHES "^(${cairn_fuzz_edges})/")
                list(APPEND flags -fno-sanitize-coverage=trace-cmp)
            endif()
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags}")
        endif()
    endforeach()
endfunction()

# cairn_room(NAME sim SOURCES a.c b.c ROOMS base [LIBRARIES ...])
# One top-level folder, one static library cairn_<name>. Includes are written from the root, each
# header compiles alone (tests/structure), ROOMS are the arrows down.
function(cairn_room)
    cmake_parse_arguments(ROOM "" "NAME" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
    set(target cairn_${ROOM_NAME})
    add_library(${target} STATIC ${ROOM_SOURCES})
    cairn_fuzz_sources(${ROOM_SOURCES})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR})
    list(TRANSFORM ROOM_ROOMS PREPEND cairn_)
    # The flags are for cairn's own code; a game's rules get them from cairn::rules.
    target_link_libraries(${target} PRIVATE cairn_float)
    target_link_libraries(${target} PUBLIC ${ROOM_ROOMS} PRIVATE cairn_flags ${ROOM_LIBRARIES})
    if(NOT PROJECT_IS_TOP_LEVEL)
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON) # built when the game links it
        # -O3 is for what computes: sim sets it itself.
        target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<C_COMPILER_ID:GNU,Clang>>:-O2>)
    endif()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()

# cairn_program(NAME cairnd SOURCES main.c ROOMS server [LIBRARIES ...])
function(cairn_program)
    cmake_parse_arguments(PROGRAM "" "NAME" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
    add_executable(${PROGRAM_NAME} ${PROGRAM_SOURCES})
    target_include_directories(${PROGRAM_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
    list(TRANSFORM PROGRAM_ROOMS PREPEND cairn_)
    target_link_libraries(${PROGRAM_NAME} PRIVATE cairn_flags ${PROGRAM_ROOMS} ${PROGRAM_LIBRARIES})
    target_link_options(${PROGRAM_NAME} PRIVATE ${cairn_harden_program})
    set_target_properties(${PROGRAM_NAME} PROPERTIES LINKER_LANGUAGE C
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# cairn_rules_module(NAME arena SOURCES arena.c [DEFINITIONS ...])
# A rules file (cairn/rules_file.h), lib/arena.so. It links nothing: the program that loads it has the functions.
function(cairn_rules_module)
    cmake_parse_arguments(RULES "" "NAME" "SOURCES;DEFINITIONS" ${ARGN})
    add_library(rules_${RULES_NAME} MODULE ${RULES_SOURCES})
    target_include_directories(rules_${RULES_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(rules_${RULES_NAME} PRIVATE ${RULES_DEFINITIONS})
    target_compile_options(rules_${RULES_NAME} PRIVATE -Wall -Wextra $<$<BOOL:${CAIRN_WERROR}>:-Werror>)
    target_link_libraries(rules_${RULES_NAME} PRIVATE cairn_float)
    set_target_properties(rules_${RULES_NAME} PROPERTIES PREFIX "" OUTPUT_NAME ${RULES_NAME}
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endfunction()

# cairn_kit(NAME golden_scenes SOURCES golden_scenes.c ROOMS sim [LIBRARIES ...])
# What several tests share, compiled once; they name it among their ROOMS.
function(cairn_kit)
    cairn_room(${ARGN})
endfunction()

# cairn_test(NAME net.replay SOURCES replay_test.c ROOMS net [LIBRARIES ...] [LABELS ...] [TIMEOUT s] [THOROUGH])
# One program of tests (tests/kit/test.h), one ctest entry. THOROUGH adds a second entry, net.replay_thorough with the
# label "long", for a program that plays only a part of its cases unless test_is_thorough().
function(cairn_test)
    cmake_parse_arguments(CASE "THOROUGH" "NAME;TIMEOUT" "SOURCES;ROOMS;LIBRARIES;LABELS" ${ARGN})
    string(REPLACE "." "_" target test_${CASE_NAME})
    cairn_program(NAME ${target} SOURCES ${CASE_SOURCES} ROOMS ${CASE_ROOMS}
        LIBRARIES ${CASE_LIBRARIES} cairn_test_kit)
    add_test(NAME ${CASE_NAME} COMMAND ${target})
    if(CAIRN_GOLDEN_WORLDS) # a row of the golden matrix waits for a processor that other stages leave
        set(CASE_TIMEOUT 3600)
    elseif(NOT CASE_TIMEOUT AND CMAKE_C_FLAGS MATCHES "fsanitize") # several times slower, beside the golden matrix
        set(CASE_TIMEOUT 600)
    elseif(NOT CASE_TIMEOUT)
        set(CASE_TIMEOUT 180)
    endif()
    set_tests_properties(${CASE_NAME} PROPERTIES TIMEOUT ${CASE_TIMEOUT} LABELS "${CASE_LABELS}")
    if(CASE_THOROUGH)
        add_test(NAME ${CASE_NAME}_thorough COMMAND ${target})
        set_tests_properties(${CASE_NAME}_thorough PROPERTIES TIMEOUT 180 LABELS "${CASE_LABELS};long"
            ENVIRONMENT CAIRN_TEST_THOROUGH=1)
    endif()
endfunction()

# cairn_fuzzer(NAME net_packet SOURCES packet_fuzz.c ROOMS net)
# One libFuzzer target with its kept corpus in <folder>/corpus/<name>/; ctest replays the corpus
# and fuzzes a little more. Exists only with CAIRN_FUZZ.
function(cairn_fuzzer)
    cmake_parse_arguments(FUZZ "" "NAME" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
    if(NOT CAIRN_FUZZ)
        return()
    endif()
    cairn_program(NAME fuzz_${FUZZ_NAME} SOURCES ${FUZZ_SOURCES} ROOMS ${FUZZ_ROOMS}
        LIBRARIES ${FUZZ_LIBRARIES})
    set_source_files_properties(${FUZZ_SOURCES} PROPERTIES COMPILE_OPTIONS -fsanitize=fuzzer-no-link)
    target_link_options(fuzz_${FUZZ_NAME} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers fuzz_${FUZZ_NAME})
    set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${FUZZ_NAME})
    set(found ${CMAKE_CURRENT_BINARY_DIR}/found/${FUZZ_NAME})
    file(MAKE_DIRECTORY ${found})
    add_test(NAME fuzz.${FUZZ_NAME}
        COMMAND fuzz_${FUZZ_NAME} -max_total_time=1 -timeout=5 -rss_limit_mb=1024
            -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/ ${found} ${corpus})
    set_tests_properties(fuzz.${FUZZ_NAME} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

if(CAIRN_FUZZ)
    add_custom_target(fuzzers)
endif()
if(NOT CAIRN_SIM_ONLY OR CAIRN_CLIENT_ONLY)
    find_package(PkgConfig REQUIRED)
endif()
if(NOT CAIRN_SIM_ONLY AND CAIRN_TESTS)
    pkg_check_modules(CMOCKA REQUIRED QUIET IMPORTED_TARGET GLOBAL cmocka)
endif()
