# SPDX-License-Identifier: MIT
# cairn_flags: what every target of ours is compiled with. The floating-point part is the
# determinism contract (docs/DETERMINISM.md) and is public to dependents; the rest is hygiene.

add_library(cairn_float INTERFACE)
target_compile_options(cairn_float INTERFACE
    -ffp-contract=off -fno-math-errno
    # gcc on s390x evaluates float in double under -std=c17 unless told otherwise.
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-fexcess-precision=fast>)

add_library(cairn_flags INTERFACE)
target_link_libraries(cairn_flags INTERFACE cairn_float)
target_compile_options(cairn_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wdouble-promotion -Wvla
    $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wstrict-prototypes -Wmissing-prototypes>
    $<$<BOOL:${CAIRN_WERROR}>:-Werror>)
