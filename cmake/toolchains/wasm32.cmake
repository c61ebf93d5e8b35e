# SPDX-License-Identifier: MIT
# 32 bits, WebAssembly on the system interface that wasi-libc calls, run by Node.js. Neither a control word for
# floating point nor fused multiply-add exists there. SIMD128 is a flag of the row.
find_program(CAIRN_NODE NAMES node nodejs)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
# Node.js 20 can crash in a helper thread of its garbage collector when a program ends: one thread is enough here.
set(CMAKE_CROSSCOMPILING_EMULATOR ${CAIRN_NODE} --single-threaded --no-warnings ${CMAKE_CURRENT_LIST_DIR}/run_wasi.mjs)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# The default is 64 KiB, less than some tests have as local arrays.
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-z,stack-size=1048576)
# Libraries for the target (tools/dev_sources.sh), for the client library.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CAIRN_FOREIGN_ROOT)
if(CAIRN_FOREIGN_ROOT)
    set(ENV{PKG_CONFIG_LIBDIR} ${CAIRN_FOREIGN_ROOT}/lib/pkgconfig)
    set(CMAKE_C_FLAGS_INIT "-isystem ${CAIRN_FOREIGN_ROOT}/include")
endif()
