// SPDX-License-Identifier: MIT
#include "client_lib/simulate/state_transfer.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "compress/state_packer.h"

void cairn_state_transfer_start(cairn_state_transfer *transfer, uint32_t size_max) {
    *transfer = (cairn_state_transfer){.size_max = size_max};
}

void cairn_state_transfer_end(cairn_state_transfer *transfer) {
    free(transfer->bytes);
    transfer->bytes = NULL;
    transfer->received = 0;
    transfer->total_size = 0;
    transfer->unpacked_size = 0;
}

static cairn_state_verdict begin_transfer(
    cairn_state_transfer *transfer, const cairn_state_message *piece) {
    cairn_state_transfer_end(transfer);
    if (piece->total_size > transfer->size_max || piece->unpacked_size > transfer->size_max) {
        return CAIRN_STATE_TOO_LARGE;
    }
    transfer->bytes = piece->total_size > 0 ? malloc(piece->total_size) : NULL;
    if (transfer->bytes == NULL) {
        return CAIRN_STATE_NO_MEMORY;
    }
    CAIRN_ASSERT(transfer->total_size == 0 && transfer->received == 0);
    transfer->total_size = piece->total_size;
    transfer->unpacked_size = piece->unpacked_size;
    transfer->tick = piece->tick;
    transfer->started++;
    return CAIRN_STATE_MORE;
}

cairn_state_verdict cairn_state_transfer_take(
    cairn_state_transfer *transfer, const cairn_state_message *piece) {
    CAIRN_ASSERT(piece->bytes != NULL || piece->size == 0);
    if (piece->offset == 0) {
        cairn_state_verdict verdict = begin_transfer(transfer, piece);
        if (verdict != CAIRN_STATE_MORE) {
            return verdict;
        }
    }
    bool continues = transfer->bytes != NULL && piece->tick == transfer->tick &&
                     piece->total_size == transfer->total_size &&
                     piece->unpacked_size == transfer->unpacked_size &&
                     piece->offset == transfer->received &&
                     piece->size <= transfer->total_size - transfer->received;
    if (!continues) {
        return CAIRN_STATE_OUT_OF_ORDER;
    }
    if (piece->size > 0) {
        memcpy(transfer->bytes + transfer->received, piece->bytes, piece->size);
    }
    transfer->received += piece->size;
    CAIRN_ASSERT(transfer->received <= transfer->total_size);
    return transfer->received == transfer->total_size ? CAIRN_STATE_WHOLE : CAIRN_STATE_MORE;
}

cairn_state_verdict cairn_state_transfer_unpack(cairn_state_transfer *transfer) {
    CAIRN_ASSERT(transfer->bytes != NULL && transfer->received == transfer->total_size);
    if (transfer->unpacked_size == 0) {
        return CAIRN_STATE_WHOLE;
    }
    uint8_t *bytes = malloc(transfer->unpacked_size);
    if (bytes == NULL) {
        return CAIRN_STATE_NO_MEMORY;
    }
    if (!cairn_state_unpack(
            transfer->bytes, transfer->total_size, bytes, transfer->unpacked_size)) {
        free(bytes);
        return CAIRN_STATE_MALFORMED;
    }
    free(transfer->bytes);
    transfer->bytes = bytes;
    transfer->total_size = transfer->unpacked_size;
    transfer->received = transfer->unpacked_size;
    transfer->unpacked_size = 0;
    return CAIRN_STATE_WHOLE;
}
