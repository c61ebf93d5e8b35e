# SPDX-License-Identifier: MIT
# 32 bits, VFP; NEON would flush subnormal numbers to zero and is not used for float arithmetic.
set(CAIRN_TRIPLE arm-linux-gnueabihf)
set(CAIRN_QEMU qemu-arm)
include(${CMAKE_CURRENT_LIST_DIR}/linux-cross.cmake)
