// SPDX-License-Identifier: MIT
#pragma once

#include <cairn/joint.h>

// What a joint is if nothing is said about it: the default of cairn_joint_def and of scenes.
cairn_joint_def cairn_joint_defaults(void);
