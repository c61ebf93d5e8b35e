# SPDX-License-Identifier: MIT
# 64 bits, fused multiply-add in the base instruction set.
set(CAIRN_TRIPLE aarch64-linux-gnu)
set(CAIRN_QEMU qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/linux-cross.cmake)
