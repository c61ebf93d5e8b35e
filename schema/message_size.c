// SPDX-License-Identifier: MIT
#include "schema/message_size.h"

#include "base/assert.h"
#include "schema/control_tables.h"

static size_t ticks_size(uint32_t tick_count, uint32_t command_count) {
    return tick_count * sizeof(cairn_wire_tick) + command_count * sizeof(cairn_command);
}

#define SIZE_NUMBER(FIELD, field)
#define SIZE_REAL(FIELD, field)
#define SIZE_LIMITED_TEXT(FIELD, field, size_max)
#define SIZE_VEC3(FIELD, field)
#define SIZE_QUAT(FIELD, field)
#define SIZE_HASH(FIELD, field)
#define SIZE_ONE(FIELD, field, element, Wire)
#define SIZE_LIST(FIELD, field, count, element, Wire, count_max)                                   \
    size += m->count * sizeof *m->field;
#define SIZE_LIMITED_BYTES(FIELD, field, count, count_max) size += m->count;
#define SIZE_OF(KIND, ...) SIZE_##KIND(__VA_ARGS__)

#define SIZE_ANSWER(VERB, member, structure)                                                       \
    case CAIRN_CONTROL_##VERB: {                                                                   \
        const cairn_control_##structure *m = &answer->member;                                      \
        (void)m;                                                                                   \
        CONTROL_MEMBERS_##structure(SIZE_OF) break;                                                \
    }

static size_t answer_size(const cairn_control_answer *answer) {
    size_t size = 0;
    switch (answer->refusal == CAIRN_CONTROL_DONE ? answer->verb : 0) {
        EACH_CONTROL_ANSWER(SIZE_ANSWER)
    default: // has no lists
        break;
    }
    return size;
}

static size_t request_size(const cairn_control_request *request) {
    switch (request->verb) {
    case CAIRN_CONTROL_ACT:
        return request->act.edit_count * sizeof(cairn_control_edit) +
               request->act.watched_count * sizeof(cairn_control_watched);
    case CAIRN_CONTROL_SPAWN:
        return request->spawn.point_count * sizeof(cairn_vec3);
    case CAIRN_CONTROL_SPAWN_COMPOUND:
        return request->spawn_compound.point_count * sizeof(cairn_vec3) +
               request->spawn_compound.part_count * sizeof(cairn_control_part);
    case CAIRN_CONTROL_SPAWN_MESH:
        return request->spawn_mesh.point_count * sizeof(cairn_vec3) +
               request->spawn_mesh.triangle_count * sizeof(cairn_control_triangle);
    case CAIRN_CONTROL_SPAWN_HEIGHT_FIELD:
        return request->spawn_height_field.height_count * sizeof(cairn_control_height);
    case CAIRN_CONTROL_SAVE_WRITE:
        return request->save_write.byte_count;
    default:
        return 0;
    }
}

size_t cairn_message_vectors_size(const cairn_message *message) {
    CAIRN_ASSERT(message != NULL);
    switch (message->kind) {
    case CAIRN_MESSAGE_INPUT:
        return message->input.payload_size;
    case CAIRN_MESSAGE_ROOT_REPORT:
        return message->root_report.root_count * sizeof(cairn_wire_root);
    case CAIRN_MESSAGE_RESYNC_REQUEST:
        return message->resync_request.difference_sketch_size;
    case CAIRN_MESSAGE_CONTROL:
        return request_size(&message->control);
    case CAIRN_MESSAGE_SHAPES:
        return message->shapes.shape_count * sizeof(cairn_snapshot_shape) +
               message->shapes.removed_count * sizeof(uint32_t) + message->shapes.hull_count +
               message->shapes.corner_count * sizeof(cairn_vec3);
    case CAIRN_MESSAGE_SNAPSHOT:
        return (size_t)message->snapshot.payload_size + message->snapshot.events_size +
               message->snapshot.shared_packed_size;
    case CAIRN_MESSAGE_TICKS:
        return message->ticks.payload_size;
    case CAIRN_MESSAGE_STATE:
        return message->state.size;
    case CAIRN_MESSAGE_RESYNC_RESPONSE:
        return (size_t)message->resync_response.payload_size + message->resync_response.stages_size;
    case CAIRN_MESSAGE_WORLD_EVENTS:
        return message->world_events.event_count * sizeof(cairn_wire_event);
    case CAIRN_MESSAGE_PLAYER_MESSAGE:
        return message->player_message.size;
    case CAIRN_MESSAGE_GAME_MESSAGES:
        return message->game_messages.items_size;
    case CAIRN_MESSAGE_MESH:
        return message->mesh.word_count * sizeof(uint32_t);
    case CAIRN_MESSAGE_ANSWER:
        return answer_size(&message->answer);
    case CAIRN_MESSAGE_HELLO:
    case CAIRN_MESSAGE_WELCOME:
    case CAIRN_MESSAGE_REFUSED:
    case CAIRN_MESSAGE_EVENT:
    case CAIRN_MESSAGE_NONE:
    case CAIRN_MESSAGE_KIND_COUNT:
        break;
    }
    return 0;
}

size_t cairn_chunk_vectors_size(const cairn_chunk *chunk) {
    CAIRN_ASSERT(chunk != NULL);
    switch (chunk->kind) {
    case CAIRN_CHUNK_START:
        return chunk->start.state_size;
    case CAIRN_CHUNK_TICKS:
        return ticks_size(chunk->ticks.tick_count, chunk->ticks.command_count);
    case CAIRN_CHUNK_KEYFRAME:
        return chunk->keyframe.state_size;
    case CAIRN_CHUNK_REPLACE:
        return chunk->replace.state_size;
    case CAIRN_CHUNK_DESYNC:
        return (size_t)chunk->desync.stages_client_size + chunk->desync.stages_server_size +
               chunk->desync.difference_count * sizeof(cairn_wire_difference);
    case CAIRN_CHUNK_END:
    case CAIRN_CHUNK_NONE:
    case CAIRN_CHUNK_KIND_COUNT:
        break;
    }
    return 0;
}
