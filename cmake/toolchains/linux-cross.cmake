# SPDX-License-Identifier: MIT
# What the foreign targets have in common: Debian's cross compilers and QEMU's user mode to run the programs. The
# including file sets CAIRN_TRIPLE and CAIRN_QEMU. Programs are static, unless CAIRN_FOREIGN_ROOT names a folder with
# libraries for the target (tools/dev_foreign.sh), which are shared. If this machine runs the target's own loader, which CAIRN_LOADER
# names, no emulator is needed: the programs then take an eighth of the time.
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${CAIRN_TRIPLE}")
set(CMAKE_C_COMPILER ${CAIRN_TRIPLE}-gcc)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# Without it gcc takes twice as long to allocate registers for the kernels.
string(APPEND CMAKE_C_FLAGS_INIT " -fno-schedule-insns")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CAIRN_FOREIGN_ROOT)
if(CAIRN_FOREIGN_ROOT)
    string(REPLACE i686 i386 library "${CAIRN_FOREIGN_ROOT}/usr/lib/${CAIRN_TRIPLE}")
    set(CMAKE_CXX_COMPILER ${CAIRN_TRIPLE}-g++)
    set(ENV{PKG_CONFIG_LIBDIR} ${library}/pkgconfig)
    set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CAIRN_FOREIGN_ROOT})
    string(APPEND CMAKE_C_FLAGS_INIT " -isystem ${CAIRN_FOREIGN_ROOT}/usr/include")
    string(APPEND CMAKE_CXX_FLAGS_INIT " -isystem ${CAIRN_FOREIGN_ROOT}/usr/include")
    set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${library} -Wl,-rpath-link,${library}")
    set(CMAKE_CROSSCOMPILING_EMULATOR ${CAIRN_QEMU} -L /usr/${CAIRN_TRIPLE} -E LD_LIBRARY_PATH=${library})
    if(CAIRN_LOADER)
        set(loader /usr/${CAIRN_TRIPLE}/lib/${CAIRN_LOADER})
        execute_process(COMMAND ${loader} --version RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(failed EQUAL 0)
            set(CMAKE_CROSSCOMPILING_EMULATOR ${loader} --library-path "${library}:/usr/${CAIRN_TRIPLE}/lib")
        endif()
    endif()
else()
    set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${CAIRN_QEMU})
endif()
