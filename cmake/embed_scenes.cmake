# SPDX-License-Identifier: MIT
# cmake -DOUT=file.c -DSCENES=a.json;b.json -P embed_scenes.cmake
# Writes each scene as a C array of bytes: string literals have a length limit in standard C.

list(SORT SCENES)
set(text "// SPDX-License-Identifier: MIT\n#include \"bridge/scene_library.h\"\n\n")
set(table "")
set(count 0)
foreach(scene IN LISTS SCENES)
    get_filename_component(name ${scene} NAME_WE)
    file(READ ${scene} hex HEX)
    string(LENGTH "${hex}" size)
    math(EXPR size "${size} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n    " bytes "${bytes}")
    string(APPEND text "static const char scene_${count}[] = {\n    ${bytes}0};\n")
    string(APPEND table "    {.name = \"${name}\", .json = scene_${count}, .size = ${size}},\n")
    math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "\nextern const cairn_scene_text cairn_scene_texts[];\nextern const uint32_t cairn_scene_text_count;\n")
string(APPEND text "\nconst cairn_scene_text cairn_scene_texts[] = {\n${table}};\nconst uint32_t cairn_scene_text_count = ${count};\n")
file(WRITE ${OUT} "${text}")
