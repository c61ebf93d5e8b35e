// SPDX-License-Identifier: MIT
#include "tools/replay/output.h"

#include <errno.h>
#include <string.h>

#include "tools/replay/verbs.h"

static bool write_file(void *user, const uint8_t *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size;
}

int cairn_replay_output_open(cairn_replay_output *out, const char *path, const cairn_key *key,
    const char *scene_name, const cairn_world *world) {
    *out = (cairn_replay_output){.path = path};
    if (!cairn_output_file_open(&out->file, path, 0666)) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, strerror(errno));
    }
    // A save is a copy of the block in memory; its canonical encoding is at most twice as long.
    const size_t size = 2 * cairn_world_save_size_max(world) + 4096;
    const cairn_recorder_config config = {
        .packing = &cairn_packing_zstd,
        .ticks_per_chunk = 64,
        .commands_per_tick_max = CAIRN_COMMANDS_PER_TICK_MAX,
        .state_size_max = size < CAIRN_STATE_SIZE_MAX ? size : CAIRN_STATE_SIZE_MAX,
        .scene_name = scene_name,
        .signing_seed = key->given ? key->bytes : NULL,
        .write = write_file,
        .user = out->file.file,
    };
    bool good = cairn_recorder_create(&config, &out->recorder) == CAIRN_OK &&
                cairn_recorder_start(out->recorder, world);
    return good ? CAIRN_EXIT_GOOD
                : cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, "out of memory");
}

void cairn_replay_output_tick(cairn_replay_output *out, const cairn_world *world, uint64_t tick,
    const cairn_command *commands, uint32_t command_count, cairn_hash128 root) {
    cairn_recorder_tick(out->recorder, tick, commands, command_count, root);
    if (cairn_recorder_keyframe_due(out->recorder)) {
        cairn_recorder_keyframe(out->recorder, world);
    }
}

int cairn_replay_output_copy(
    cairn_replay_output *out, const cairn_player *player, const char *verb) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t count = 0;
    const cairn_wire_tick *tick = player->tick;
    const cairn_hash128 root = cairn_world_hash_read(player->world).full;
    if (!cairn_hash_equal(root, player->recorded_hash)) {
        return cairn_replay_complain_at(
            player, verb, "the state hash differs: the copy would not verify");
    }
    if (!cairn_recorded_commands(&player->walk.chunk.ticks, tick, commands, &count)) {
        return cairn_replay_complain_at(player, verb, "a command is invalid");
    }
    cairn_replay_output_tick(out, player->world, tick->tick, commands, count, root);
    return CAIRN_EXIT_GOOD;
}

int cairn_replay_output_close(cairn_replay_output *out, int code) {
    if (code == CAIRN_EXIT_GOOD) {
        cairn_recorder_end(out->recorder);
    }
    bool failed = out->recorder != NULL && cairn_recorder_failed(out->recorder);
    out->bytes = out->recorder == NULL ? 0 : cairn_recorder_bytes(out->recorder);
    cairn_recorder_destroy(out->recorder);
    if (out->file.file == NULL) {
        return code;
    }
    const bool complete = code == CAIRN_EXIT_GOOD && !failed;
    failed = !cairn_output_file_close(&out->file, complete) || failed;
    if (code == CAIRN_EXIT_GOOD && failed) {
        code = cairn_replay_complain(CAIRN_EXIT_UNUSABLE, out->path, "cannot be written");
    }
    return code;
}
