# SPDX-License-Identifier: MIT
# What the foreign targets have in common: Debian's cross compiler, static programs, and QEMU's user
# mode to run them. The including file sets CAIRN_TRIPLE and CAIRN_QEMU.
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${CAIRN_TRIPLE}")
set(CMAKE_C_COMPILER ${CAIRN_TRIPLE}-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CAIRN_QEMU})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
