# SPDX-License-Identifier: MIT
# cairn_flags: what every target of ours is compiled with. The floating-point part is the
# determinism contract (docs/DETERMINISM.md) and is public to dependents; the rest is hygiene.

# A negative control breaks the contract in one way on purpose, so that the golden matrix can show
# that it detects this: "contraction", or "faults", the mutants that tests/sim/mutants.py puts into
# a copy of the sources, for the golden checker to choose from.
set(CAIRN_NEGATIVE_CONTROL "" CACHE STRING "Break the determinism contract in this way")
set(contract -ffp-contract=off)
if(CAIRN_NEGATIVE_CONTROL STREQUAL "contraction")
    set(contract -ffp-contract=fast)
elseif(CAIRN_NEGATIVE_CONTROL STREQUAL "faults")
    set(control CAIRN_NEGATIVE_CONTROLS)
endif()

add_library(cairn_float INTERFACE)
target_compile_definitions(cairn_float INTERFACE ${control})
target_compile_options(cairn_float INTERFACE
    ${contract} -fno-math-errno
    # gcc 12's vectoriser fuses products that are alternately added and subtracted (vfmaddsub), even with
    # -ffp-contract=off; sim/math/float_env.c has an example.
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-fno-tree-vectorize>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-tree-vectorize>
    # gcc on s390x evaluates float in double under -std=c17 unless told otherwise.
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-fexcess-precision=fast>)

# Warnings take a fifteenth of the time of a build. Rows of the golden matrix, whose log nobody reads, turn them off.
option(CAIRN_WARNINGS "Have the compiler warn" ON)
set(warnings -w)
set(warnings_of_c "")
if(CAIRN_WARNINGS)
    set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wdouble-promotion -Wvla)
    set(warnings_of_c -Wconversion -Wstrict-prototypes -Wmissing-prototypes)
endif()
add_library(cairn_flags INTERFACE)
target_link_libraries(cairn_flags INTERFACE cairn_float)
target_compile_options(cairn_flags INTERFACE
    ${warnings} ${warnings_of_c}
    # CAIRN_ASSERT(!"why this is never reached") is meant.
    $<$<COMPILE_LANG_AND_ID:C,Clang>:-Wno-string-conversion>
    $<$<BOOL:${CAIRN_WERROR}>:-Werror>)
# The same for the C++ files (schema/).
add_library(cairn_flags_cpp INTERFACE)
target_link_libraries(cairn_flags_cpp INTERFACE cairn_float)
target_compile_options(cairn_flags_cpp INTERFACE ${warnings} $<$<BOOL:${CAIRN_WERROR}>:-Werror>)

# Hardening: what makes a fault in a server harder to use. Bits do not depend on it (tests/sim, the golden matrix).
# tests/structure reads the built programs and fails if a flag is lost. _FORTIFY_SOURCE needs an optimised build. A
# sanitizer finds more, and the static programs of foreign targets are for tests alone.
set(harden ON)
if(CMAKE_CROSSCOMPILING OR CMAKE_C_FLAGS MATCHES "fsanitize" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(harden OFF)
endif()
option(CAIRN_HARDEN "Harden programs and libraries against exploits" ${harden})
if(CAIRN_HARDEN)
    set(hardening -fPIE -fstack-protector-strong
        $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel,Quick>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        list(APPEND hardening -fstack-clash-protection -fcf-protection)
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
        list(APPEND hardening -fstack-clash-protection -mbranch-protection=standard)
    endif()
    target_compile_options(cairn_flags INTERFACE ${hardening})
    target_compile_options(cairn_flags_cpp INTERFACE ${hardening})
    # Not options of cairn_flags: a static library would pass them on to the programs of others.
    set(cairn_harden_library -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    set(cairn_harden_program -pie ${cairn_harden_library})
endif()
