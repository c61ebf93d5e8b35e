# SPDX-License-Identifier: MIT
# 32 bits. The x87 unit evaluates wider than float, so SSE2 is a must.
set(CAIRN_TRIPLE i686-linux-gnu)
set(CAIRN_QEMU qemu-i386)
set(CAIRN_LOADER ld-linux.so.2)
set(CMAKE_C_FLAGS_INIT "-msse2 -mfpmath=sse")
include(${CMAKE_CURRENT_LIST_DIR}/linux-cross.cmake)
