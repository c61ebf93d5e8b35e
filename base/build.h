// SPDX-License-Identifier: MIT
#pragma once

// What made this program: compiler, its version, and the machine it is for, such as "gcc 12.2.0
// x86-64". For people who wonder where a difference comes from. Static text.
const char *cairn_build_text(void);
