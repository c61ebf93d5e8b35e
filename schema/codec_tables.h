// SPDX-License-Identifier: MIT
#pragma once

// The codec's tables: which kinds of messages and chunks there are, and the members of each. The
// members of control messages are in schema/control_tables.h.

// Every kind of message: its name, its member of cairn_message, its table.
#define EACH_MESSAGE(X)                                                                            \
    X(HELLO, hello, Hello)                                                                         \
    X(INPUT, input, Inputs)                                                                        \
    X(ROOT_REPORT, root_report, RootReport)                                                        \
    X(RESYNC_REQUEST, resync_request, ResyncRequest)                                               \
    X(CONTROL, control, Control)                                                                   \
    X(WELCOME, welcome, Welcome)                                                                   \
    X(REFUSED, refused, Refused)                                                                   \
    X(SHAPES, shapes, Shapes)                                                                      \
    X(SNAPSHOT, snapshot, Snapshot)                                                                \
    X(TICKS, ticks, Ticks)                                                                         \
    X(STATE, state, State)                                                                         \
    X(RESYNC_RESPONSE, resync_response, ResyncResponse)                                            \
    X(EVENT, event, Event)                                                                         \
    X(ANSWER, answer, Answer)                                                                      \
    X(WORLD_EVENTS, world_events, WorldEvents)                                                     \
    X(MESH, mesh, Mesh)                                                                            \
    X(PLAYER_MESSAGE, player_message, PlayerMessage)                                               \
    X(GAME_MESSAGES, game_messages, GameMessages)

// Every kind of chunk, in the same way.
#define EACH_CHUNK(X)                                                                              \
    X(START, start, ChunkStart)                                                                    \
    X(TICKS, ticks, ChunkTicks)                                                                    \
    X(END, end, ChunkEnd)                                                                          \
    X(KEYFRAME, keyframe, ChunkKeyframe)                                                           \
    X(REPLACE, replace, ChunkReplace)                                                              \
    X(DESYNC, desync, ChunkDesync)

// Every FlatBuffers table whose members are listed below: X(struct, Table).
#define EACH_TABLE(X)                                                                              \
    X(hello, Hello)                                                                                \
    X(input_message, Inputs)                                                                       \
    X(root_report, RootReport)                                                                     \
    X(resync_request, ResyncRequest)                                                               \
    X(welcome, Welcome)                                                                            \
    X(refused, Refused)                                                                            \
    X(shapes_message, Shapes)                                                                      \
    X(snapshot_message, Snapshot)                                                                  \
    X(ticks_message, Ticks)                                                                        \
    X(state_message, State)                                                                        \
    X(resync_response, ResyncResponse)                                                             \
    X(event_message, Event)                                                                        \
    X(world_events_message, WorldEvents)                                                           \
    X(mesh_message, Mesh)                                                                          \
    X(player_message, PlayerMessage)                                                               \
    X(game_messages_message, GameMessages)                                                         \
    X(chunk_start, ChunkStart)                                                                     \
    X(chunk_ticks, ChunkTicks)                                                                     \
    X(chunk_end, ChunkEnd)                                                                         \
    X(chunk_replace, ChunkReplace)                                                                 \
    X(chunk_desync, ChunkDesync)                                                                   \
    X(chunk_keyframe, ChunkKeyframe)

// A member is X(KIND, FIELD, field, ...): FIELD as the .fbs names it in capitals, field as the C
// struct names it. Kinds:
//   NUMBER                 an integer or a float
//   TEXT
//   STRUCT   Wire          a fixed struct
//   ADDED    Wire          the same, zero if the writer did not know it yet
//   VECTOR   count, Wire   of fixed structs
//   NUMBERS  count, type
//   BYTES    count
//   OPTIONAL count         bytes; the field is absent if `count` is 0
#define MEMBERS_hello(X)                                                                           \
    X(NUMBER, PROTOCOL_VERSION, protocol_version)                                                  \
    X(NUMBER, SIM_VERSION, sim_version)                                                            \
    X(NUMBER, MODE, mode)                                                                          \
    X(NUMBER, SPECTATOR, spectator)                                                                \
    X(NUMBER, VELOCITIES, velocities)                                                              \
    X(TEXT, RULES_NAME, rules_name)                                                                \
    X(NUMBER, RULES_VERSION, rules_version)                                                        \
    X(NUMBER, RULES_DIGEST, rules_digest)                                                          \
    X(TEXT, ROOM, room)                                                                            \
    X(TEXT, BUILD, build)                                                                          \
    X(NUMBER, PASSPORT_FAULTS, passport_faults)                                                    \
    X(STRUCT, PASSPORT_HASH, passport_hash, Hash128)

#define MEMBERS_input_message(X) X(BYTES, PAYLOAD, payload, payload_size)

#define MEMBERS_root_report(X)                                                                     \
    X(VECTOR, ROOTS, roots, root_count, Root)                                                      \
    X(NUMBER, WORLD_EPOCH, world_epoch)                                                            \
    X(NUMBER, ROLLBACKS, rollbacks)                                                                \
    X(NUMBER, ROLLBACK_TICKS, rollback_ticks)

#define MEMBERS_resync_request(X)                                                                  \
    X(NUMBER, TICK, tick)                                                                          \
    X(NUMBER, WANT, want)                                                                          \
    X(NUMBER, WORLD_EPOCH, world_epoch)                                                            \
    X(BYTES, DIFFERENCE_SKETCH, difference_sketch, difference_sketch_size)

#define MEMBERS_welcome(X)                                                                         \
    X(NUMBER, TICK, tick)                                                                          \
    X(NUMBER, SLOT, slot)                                                                          \
    X(NUMBER, TICK_RATE_HZ, tick_rate_hz)                                                          \
    X(NUMBER, SNAPSHOT_RATE_HZ, snapshot_rate_hz)                                                  \
    X(NUMBER, MODE, mode)                                                                          \
    X(NUMBER, SIM_VERSION, sim_version)                                                            \
    X(NUMBER, RULES_VERSION, rules_version)                                                        \
    X(TEXT, RULES_NAME, rules_name)                                                                \
    X(NUMBER, RULES_DIGEST, rules_digest)                                                          \
    X(TEXT, SCENE_NAME, scene_name)                                                                \
    X(STRUCT, SCENE_DIGEST, scene_digest, Hash128)                                                 \
    X(TEXT, ROOM, room)                                                                            \
    X(NUMBER, RIGHTS, rights)                                                                      \
    X(NUMBER, WAIT_MS, wait_ms)                                                                    \
    X(TEXT, REASON_TEXT, reason_text)                                                              \
    X(VECTOR, INPUT_FIELDS, input_fields, input_field_count, InputField)

#define MEMBERS_refused(X)                                                                         \
    X(NUMBER, REASON, reason)                                                                      \
    X(TEXT, REASON_TEXT, reason_text)

#define MEMBERS_shapes_message(X)                                                                  \
    X(NUMBER, TICK, tick)                                                                          \
    X(VECTOR, SHAPES, shapes, shape_count, Shape)                                                  \
    X(NUMBERS, REMOVED, removed, removed_count, uint32_t)                                          \
    X(BYTES, CORNER_COUNTS, corner_counts, hull_count)                                             \
    X(VECTOR, CORNERS, corners, corner_count, Vec3)

#define MEMBERS_snapshot_message(X)                                                                \
    X(BYTES, PAYLOAD, payload, payload_size)                                                       \
    X(OPTIONAL, EVENTS, events, events_size)                                                       \
    X(OPTIONAL, SHARED, shared, shared_packed_size)                                                \
    X(NUMBER, VELOCITIES, velocities)

#define MEMBERS_ticks_message(X) X(BYTES, PAYLOAD, payload, payload_size)

#define MEMBERS_state_message(X)                                                                   \
    X(NUMBER, TICK, tick)                                                                          \
    X(NUMBER, OFFSET, offset)                                                                      \
    X(NUMBER, TOTAL_SIZE, total_size)                                                              \
    X(BYTES, BYTES, bytes, size)                                                                   \
    X(NUMBER, UNPACKED_SIZE, unpacked_size)

#define MEMBERS_resync_response(X)                                                                 \
    X(NUMBER, TICK, tick)                                                                          \
    X(NUMBER, VERDICT, verdict)                                                                    \
    X(STRUCT, FULL_ROOT, full_root, Hash128)                                                       \
    X(NUMBER, PASSPORT_FAULTS, passport_faults)                                                    \
    X(TEXT, BUILD, build)                                                                          \
    X(BYTES, PAYLOAD, payload, payload_size)                                                       \
    X(BYTES, STAGES, stages, stages_size)

#define MEMBERS_event_message(X)                                                                   \
    X(NUMBER, KIND, kind)                                                                          \
    X(NUMBER, SLOT, slot)                                                                          \
    X(NUMBER, TICK, tick)                                                                          \
    X(NUMBER, VALUE, value)                                                                        \
    X(TEXT, REASON_TEXT, reason_text)

#define MEMBERS_world_events_message(X)                                                            \
    X(NUMBER, MISSED, missed)                                                                      \
    X(VECTOR, EVENTS, events, event_count, WorldEvent)

#define MEMBERS_mesh_message(X)                                                                    \
    X(NUMBER, MESH, mesh)                                                                          \
    X(NUMBER, KIND, kind)                                                                          \
    X(NUMBER, VERTEX_COUNT, vertex_count)                                                          \
    X(NUMBER, TRIANGLE_COUNT, triangle_count)                                                      \
    X(NUMBER, COLUMNS, columns)                                                                    \
    X(NUMBER, ROWS, rows)                                                                          \
    X(NUMBER, SPACING_X, spacing_x)                                                                \
    X(NUMBER, SPACING_Z, spacing_z)                                                                \
    X(NUMBER, FIRST, first)                                                                        \
    X(NUMBERS, WORDS, words, word_count, uint32_t)

#define MEMBERS_player_message(X) X(BYTES, BYTES, bytes, size)

#define MEMBERS_game_messages_message(X)                                                           \
    X(NUMBER, TICK, tick)                                                                          \
    X(NUMBER, MISSED, missed)                                                                      \
    X(NUMBER, WORLD_EPOCH, world_epoch)                                                            \
    X(BYTES, ITEMS, items, items_size)

#define MEMBERS_chunk_start(X)                                                                     \
    X(NUMBER, SIM_VERSION, sim_version)                                                            \
    X(NUMBER, RULES_VERSION, rules_version)                                                        \
    X(NUMBER, RULES_DIGEST, rules_digest)                                                          \
    X(TEXT, RULES_NAME, rules_name)                                                                \
    X(TEXT, SCENE_NAME, scene_name)                                                                \
    X(TEXT, BUILD, build)                                                                          \
    X(NUMBER, TICK, tick)                                                                          \
    X(BYTES, STATE, state, state_size)

#define MEMBERS_chunk_ticks(X)                                                                     \
    X(VECTOR, TICKS, ticks, tick_count, Tick)                                                      \
    X(VECTOR, COMMANDS, commands, command_count, Command)

#define MEMBERS_chunk_end(X)                                                                       \
    X(NUMBER, TICK, tick)                                                                          \
    X(NUMBER, TICK_COUNT, tick_count)                                                              \
    X(ADDED, SEAL, seal, Seal)

#define MEMBERS_chunk_replace(X)                                                                   \
    X(NUMBER, TICK, tick)                                                                          \
    X(BYTES, STATE, state, state_size)

#define MEMBERS_chunk_desync(X)                                                                    \
    X(VECTOR, DIFFERENCES, differences, difference_count, Difference)                              \
    X(STRUCT, HEAD, head, DesyncHead)                                                              \
    X(TEXT, BUILD_CLIENT, build_client)                                                            \
    X(TEXT, BUILD_SERVER, build_server)                                                            \
    X(BYTES, STAGES_CLIENT, stages_client, stages_client_size)                                     \
    X(BYTES, STAGES_SERVER, stages_server, stages_server_size)

#define MEMBERS_chunk_keyframe(X)                                                                  \
    X(NUMBER, TICK, tick)                                                                          \
    X(BYTES, STATE, state, state_size)
