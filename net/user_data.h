// SPDX-License-Identifier: MIT
#pragma once

// What a backend says of a client in the 256 bytes of user data of its connect token
// (docs/PROTOCOL.md, Rights). The token is sealed for the servers, so the client cannot change it.

#include <stdint.h>

#include "net/token.h"

// May steer rooms by CONTROL messages.
#define CAIRN_USER_RIGHT_OPERATOR 1u

// The rights that user data gives; none when it is not of this layout or of a later version. Bits
// that this version does not know are left out.
uint32_t cairn_user_data_rights(const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE]);
// Writes the head of user data; what is behind it is the backend's and stays as it is.
void cairn_user_data_write(uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE], uint32_t rights);
