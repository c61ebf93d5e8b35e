# SPDX-License-Identifier: MIT
# 64-bit Windows by Debian's mingw-w64, run by its Wine.
find_program(CAIRN_WINE NAMES wine64 wine PATHS /usr/lib/wine)
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/run_wine.sh ${CAIRN_WINE} ${CMAKE_BINARY_DIR}/wine)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# printf and its kin as C17 says; no DLL of the compiler beside the programs.
set(CMAKE_C_FLAGS_INIT -D__USE_MINGW_ANSI_STDIO=1)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
# Libraries for the target (tools/dev_sources.sh), for the client library.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CAIRN_FOREIGN_ROOT)
if(CAIRN_FOREIGN_ROOT)
    set(ENV{PKG_CONFIG_LIBDIR} ${CAIRN_FOREIGN_ROOT}/lib/pkgconfig)
    string(APPEND CMAKE_C_FLAGS_INIT " -isystem ${CAIRN_FOREIGN_ROOT}/include")
endif()
