# SPDX-License-Identifier: MIT
# 64 bits, fused multiply-add in the base instruction set.
set(CAIRN_TRIPLE powerpc64le-linux-gnu)
set(CAIRN_QEMU qemu-ppc64le)
include(${CMAKE_CURRENT_LIST_DIR}/linux-cross.cmake)
