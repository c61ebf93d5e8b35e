# SPDX-License-Identifier: MIT
# cairn_flags: what every target of ours is compiled with. The floating-point part is the
# determinism contract (docs/DETERMINISM.md) and is public to dependents; the rest is hygiene.

# A negative control: a build that breaks the contract in one named way, so that the golden matrix
# can show that it notices. `contraction` is made here, the others are macros CAIRN_CONTROL_<NAME>
# that the simulation looks at (tests/matrix).
set(CAIRN_CONTROL "" CACHE STRING "Break the determinism contract in this way")
set(contract -ffp-contract=off)
if(CAIRN_CONTROL STREQUAL "contraction")
    set(contract -ffp-contract=fast)
elseif(CAIRN_CONTROL)
    string(TOUPPER ${CAIRN_CONTROL} control)
endif()

add_library(cairn_float INTERFACE)
target_compile_definitions(cairn_float INTERFACE $<$<BOOL:${control}>:CAIRN_CONTROL_${control}>)
target_compile_options(cairn_float INTERFACE
    ${contract} -fno-math-errno
    # gcc on s390x evaluates float in double under -std=c17 unless told otherwise.
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-fexcess-precision=fast>)

add_library(cairn_flags INTERFACE)
target_link_libraries(cairn_flags INTERFACE cairn_float)
target_compile_options(cairn_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wdouble-promotion -Wvla
    $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wstrict-prototypes -Wmissing-prototypes>
    $<$<BOOL:${CAIRN_WERROR}>:-Werror>)
