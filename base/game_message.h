// SPDX-License-Identifier: MIT
#pragma once

// A player's message to the rules as commands (CAIRN_COMMAND_MESSAGE): pieces of 18 bytes.

#include <cairn/types.h>

#define CAIRN_MESSAGE_PIECE_SIZE 18

typedef struct cairn_message_piece {
    uint32_t slot;   // of the player
    uint32_t number; // of the piece, from 0
    uint32_t size;   // of the whole message; 0: the command is not a piece
} cairn_message_piece;

// Reads one command. Its floats are whole numbers below 2^24. Size 0 if bits of `buttons` are set
// that have no meaning, if the message has no such piece, or if bytes after its end are not 0.
cairn_message_piece cairn_message_piece_read(
    const cairn_command *command, uint8_t bytes[CAIRN_MESSAGE_PIECE_SIZE]);

// Pieces of a message of this size.
uint32_t cairn_message_piece_count(uint32_t size);

// Puts a message together from commands that begin with a piece and have passed
// cairn_command_check. Returns how many commands belong to it, at least 1. *size is 0 if they are
// not a whole message.
uint32_t cairn_message_of_commands(const cairn_command *commands, uint32_t count, uint32_t *slot,
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX], uint32_t *size);
