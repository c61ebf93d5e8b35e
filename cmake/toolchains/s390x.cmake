# SPDX-License-Identifier: MIT
# 64 bits, big-endian.
set(CAIRN_TRIPLE s390x-linux-gnu)
set(CAIRN_QEMU qemu-s390x)
include(${CMAKE_CURRENT_LIST_DIR}/linux-cross.cmake)
