// SPDX-License-Identifier: MIT
#pragma once

// The members of every control request and answer, each listed once. Codec, checks, copies, tests
// and printers expand these tables, so that no member can be forgotten in one of them.
//
// A member is X(KIND, FIELD, field, ...): FIELD as the .fbs names it in capitals, field as the C
// struct names it. Kinds:
//   NUMBER                    an integer or a bool
//   REAL                      a float, finite
//   LIMITED_TEXT   size_max   printable ASCII
//   VEC3, QUAT, HASH          fixed structs; the floats are finite
//   FLAG, BODY_KIND, MODE     of elements only: an integer of few values
//   NAME                      of elements only: a text in an array of CAIRN_NAME_SIZE_MAX + 1
//   ONE            element, Wire
//   LIST           count, element, Wire, count_max
//   LIMITED_BYTES  count, count_max
//   POINTS         count, count_max: of requests only, vectors of finite floats

// Every request that has arguments: X(VERB, member, struct, Table).
#define EACH_CONTROL_REQUEST(X)                                                                    \
    X(STEP, step, step_request, StepRequest)                                                       \
    X(RUN_UNTIL, run_until, run_until_request, RunUntilRequest)                                    \
    X(RATE, rate, rate_request, RateRequest)                                                       \
    X(RESET, reset, reset_request, ResetRequest)                                                   \
    X(SAVE, save, save_request, SaveRequest)                                                       \
    X(LOAD, load, load_request, LoadRequest)                                                       \
    X(SAVE_READ, save_read, save_read_request, SaveReadRequest)                                    \
    X(SAVE_WRITE, save_write, save_write_request, SaveWriteRequest)                                \
    X(SAVE_DELETE, save_delete, save_delete_request, SaveDeleteRequest)                            \
    X(SEEK, seek, seek_request, SeekRequest)                                                       \
    X(FORK, fork, fork_request, ForkRequest)                                                       \
    X(ROOM_CREATE, room_create, room_create_request, RoomCreateRequest)                            \
    X(SPAWN_BOX, spawn_box, spawn_box_request, SpawnBoxRequest)                                    \
    X(SPAWN_SPHERE, spawn_sphere, spawn_sphere_request, SpawnSphereRequest)                        \
    X(DELETE, delete_body, delete_request, DeleteRequest)                                          \
    X(SET_POSITION, set_position, set_position_request, SetPositionRequest)                        \
    X(SET_VELOCITY, set_velocity, set_velocity_request, SetVelocityRequest)                        \
    X(IMPULSE, impulse, impulse_request, ImpulseRequest)                                           \
    X(GET, get, get_request, GetRequest)                                                           \
    X(BODIES, bodies, bodies_request, BodiesRequest)                                               \
    X(RAY, ray, ray_request, RayRequest)                                                           \
    X(OVERLAP, overlap, overlap_request, OverlapRequest)                                           \
    X(DIFF, diff, diff_request, DiffRequest)                                                       \
    X(FAULTS, faults, faults_request, FaultsRequest)                                               \
    X(SET_BODY, set_body, set_body_request, SetBodyRequest)                                        \
    X(PUSH, push, push_request, PushRequest)                                                       \
    X(SET_TARGET, set_target, set_target_request, SetTargetRequest)                                \
    X(SET_GRAVITY, set_gravity, set_gravity_request, SetGravityRequest)                            \
    X(EXPLODE, explode, explode_request, ExplodeRequest)                                           \
    X(JOINTS, joints, joints_request, JointsRequest)                                               \
    X(SET_JOINT, set_joint, set_joint_request, SetJointRequest)                                    \
    X(DELETE_JOINT, delete_joint, delete_joint_request, DeleteJointRequest)                        \
    X(CAST, cast, cast_request, CastRequest)                                                       \
    X(CLOSEST, closest, closest_request, ClosestRequest)                                           \
    X(SPAWN, spawn, spawn_request, SpawnRequest)                                                   \
    X(CREATE_JOINT, create_joint, create_joint_request, CreateJointRequest)                        \
    X(ACT, act, act_request, ActRequest)                                                           \
    X(GET_JOINT, get_joint, get_joint_request, GetJointRequest)                                    \
    X(SET_ROW, set_row, set_row_request, SetRowRequest)                                            \
    X(SET_POSE, set_pose, set_pose_request, SetPoseRequest)                                        \
    X(SET_MASS, set_mass, set_mass_request, SetMassRequest)                                        \
    X(SET_SHAPE, set_shape, set_shape_request, SetShapeRequest)                                    \
    X(GET_BODY, get_body, get_body_request, GetBodyRequest)                                        \
    X(SHAPES, shapes, shapes_request, ShapesRequest)                                               \
    X(SPAWN_COMPOUND, spawn_compound, spawn_compound_request, SpawnCompoundRequest)                \
    X(SPAWN_MESH, spawn_mesh, spawn_mesh_request, SpawnMeshRequest)                                \
    X(SPAWN_HEIGHT_FIELD, spawn_height_field, spawn_height_field_request, SpawnHeightFieldRequest) \
    X(FRACTURE, fracture, fracture_request, FractureRequest)

// Every struct of an answer: X(struct, Table).
#define EACH_CONTROL_ANSWER_STRUCT(X)                                                              \
    X(features_answer, FeaturesAnswer)                                                             \
    X(rooms_answer, RoomsAnswer)                                                                   \
    X(state_answer, StateAnswer)                                                                   \
    X(clients_answer, ClientsAnswer)                                                               \
    X(run_answer, RunAnswer)                                                                       \
    X(save_answer, SaveAnswer)                                                                     \
    X(saves_answer, SavesAnswer)                                                                   \
    X(save_read_answer, SaveReadAnswer)                                                            \
    X(save_write_answer, SaveWriteAnswer)                                                          \
    X(edit_answer, EditAnswer)                                                                     \
    X(get_answer, GetAnswer)                                                                       \
    X(bodies_answer, BodiesAnswer)                                                                 \
    X(joints_answer, JointsAnswer)                                                                 \
    X(ray_answer, RayAnswer)                                                                       \
    X(closest_answer, ClosestAnswer)                                                               \
    X(overlap_answer, OverlapAnswer)                                                               \
    X(hash_answer, HashAnswer)                                                                     \
    X(diff_answer, DiffAnswer)                                                                     \
    X(act_answer, ActAnswer)                                                                       \
    X(get_joint_answer, GetJointAnswer)                                                            \
    X(get_body_answer, GetBodyAnswer)                                                              \
    X(shapes_answer, ShapesAnswer)                                                                 \
    X(fracture_answer, FractureAnswer)

// Every verb whose answer has more than what is common to all: X(VERB, member, struct).
#define EACH_CONTROL_ANSWER(X)                                                                     \
    X(FEATURES, features, features_answer)                                                         \
    X(ROOMS, rooms, rooms_answer)                                                                  \
    X(STATE, state, state_answer)                                                                  \
    X(CLIENTS, clients, clients_answer)                                                            \
    X(STEP, run, run_answer)                                                                       \
    X(RUN_UNTIL, run, run_answer)                                                                  \
    X(SAVE, save, save_answer)                                                                     \
    X(SAVES, saves, saves_answer)                                                                  \
    X(SAVE_READ, save_read, save_read_answer)                                                      \
    X(SAVE_WRITE, save_write, save_write_answer)                                                   \
    X(SPAWN_BOX, edit, edit_answer)                                                                \
    X(SPAWN_SPHERE, edit, edit_answer)                                                             \
    X(DELETE, edit, edit_answer)                                                                   \
    X(SET_POSITION, edit, edit_answer)                                                             \
    X(SET_VELOCITY, edit, edit_answer)                                                             \
    X(IMPULSE, edit, edit_answer)                                                                  \
    X(GET, get, get_answer)                                                                        \
    X(BODIES, bodies, bodies_answer)                                                               \
    X(RAY, ray, ray_answer)                                                                        \
    X(OVERLAP, overlap, overlap_answer)                                                            \
    X(HASH, hash, hash_answer)                                                                     \
    X(DIFF, diff, diff_answer)                                                                     \
    X(SET_BODY, edit, edit_answer)                                                                 \
    X(PUSH, edit, edit_answer)                                                                     \
    X(SET_TARGET, edit, edit_answer)                                                               \
    X(SET_GRAVITY, edit, edit_answer)                                                              \
    X(EXPLODE, edit, edit_answer)                                                                  \
    X(JOINTS, joints, joints_answer)                                                               \
    X(SET_JOINT, edit, edit_answer)                                                                \
    X(DELETE_JOINT, edit, edit_answer)                                                             \
    X(CAST, ray, ray_answer)                                                                       \
    X(CLOSEST, closest, closest_answer)                                                            \
    X(SPAWN, edit, edit_answer)                                                                    \
    X(CREATE_JOINT, edit, edit_answer)                                                             \
    X(ACT, act, act_answer)                                                                        \
    X(GET_JOINT, get_joint, get_joint_answer)                                                      \
    X(SET_ROW, edit, edit_answer)                                                                  \
    X(SET_POSE, edit, edit_answer)                                                                 \
    X(SET_MASS, edit, edit_answer)                                                                 \
    X(SET_SHAPE, edit, edit_answer)                                                                \
    X(GET_BODY, get_body, get_body_answer)                                                         \
    X(SHAPES, shapes, shapes_answer)                                                               \
    X(SPAWN_COMPOUND, edit, edit_answer)                                                           \
    X(SPAWN_MESH, edit, edit_answer)                                                               \
    X(SPAWN_HEIGHT_FIELD, edit, edit_answer)                                                       \
    X(FRACTURE, fracture, fracture_answer)

// Every kind of element of a list: X(element), the struct cairn_control_<element>.
#define EACH_CONTROL_ELEMENT(X)                                                                    \
    X(body)                                                                                        \
    X(feature)                                                                                     \
    X(room)                                                                                        \
    X(saved)                                                                                       \
    X(client)                                                                                      \
    X(shape)                                                                                       \
    X(shape_state)                                                                                 \
    X(joint)                                                                                       \
    X(section)                                                                                     \
    X(difference)                                                                                  \
    X(number)

// The same for lists of requests.
#define EACH_CONTROL_REQUEST_ELEMENT(X)                                                            \
    X(edit)                                                                                        \
    X(watched)                                                                                     \
    X(part)                                                                                        \
    X(triangle)                                                                                    \
    X(height)

#define CONTROL_MEMBERS_step_request(X) X(NUMBER, TICK_COUNT, tick_count)

#define CONTROL_MEMBERS_run_until_request(X) X(NUMBER, TICK, tick)

#define CONTROL_MEMBERS_rate_request(X) X(NUMBER, SPEED_THOUSANDTHS, speed_thousandths)

#define CONTROL_MEMBERS_reset_request(X)                                                           \
    X(NUMBER, HAS_SEED, has_seed)                                                                  \
    X(NUMBER, SEED, seed)

#define CONTROL_MEMBERS_save_request(X) X(LIMITED_TEXT, NAME, name, CAIRN_CONTROL_NAME_SIZE_MAX)

#define CONTROL_MEMBERS_load_request(X) X(LIMITED_TEXT, NAME, name, CAIRN_CONTROL_NAME_SIZE_MAX)

#define CONTROL_MEMBERS_save_read_request(X)                                                       \
    X(LIMITED_TEXT, NAME, name, CAIRN_CONTROL_NAME_SIZE_MAX)                                       \
    X(NUMBER, OFFSET, offset)

#define CONTROL_MEMBERS_save_write_request(X)                                                      \
    X(LIMITED_TEXT, NAME, name, CAIRN_CONTROL_NAME_SIZE_MAX)                                       \
    X(NUMBER, OFFSET, offset)                                                                      \
    X(NUMBER, SIZE, size)                                                                          \
    X(NUMBER, PLAYERS, players)                                                                    \
    X(NUMBER, PLAYERS_1, players_1)                                                                \
    X(NUMBER, PLAYERS_2, players_2)                                                                \
    X(NUMBER, PLAYERS_3, players_3)                                                                \
    X(LIMITED_BYTES, BYTES, bytes, byte_count, CAIRN_CONTROL_PIECE_SIZE_MAX)

#define CONTROL_MEMBERS_save_delete_request(X)                                                     \
    X(LIMITED_TEXT, NAME, name, CAIRN_CONTROL_NAME_SIZE_MAX)

#define CONTROL_MEMBERS_seek_request(X) X(NUMBER, TICK, tick)

#define CONTROL_MEMBERS_fork_request(X)                                                            \
    X(LIMITED_TEXT, NAME, name, CAIRN_CONTROL_NAME_SIZE_MAX)                                       \
    X(NUMBER, HAS_TICK, has_tick)                                                                  \
    X(NUMBER, TICK, tick)                                                                          \
    X(NUMBER, PAUSED, paused)

#define CONTROL_MEMBERS_room_create_request(X)                                                     \
    X(LIMITED_TEXT, NAME, name, CAIRN_CONTROL_NAME_SIZE_MAX)                                       \
    X(LIMITED_TEXT, SCENE, scene, CAIRN_CONTROL_NAME_SIZE_MAX)                                     \
    X(NUMBER, TICK_RATE_HZ, tick_rate_hz)                                                          \
    X(NUMBER, HAS_SEED, has_seed)                                                                  \
    X(NUMBER, SEED, seed)                                                                          \
    X(NUMBER, PAUSED, paused)

#define CONTROL_MEMBERS_spawn_box_request(X)                                                       \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, HALF_EXTENTS, half_extents)                                                            \
    X(NUMBER, USER, user)

#define CONTROL_MEMBERS_spawn_sphere_request(X)                                                    \
    X(VEC3, POSITION, position)                                                                    \
    X(REAL, RADIUS, radius)                                                                        \
    X(NUMBER, USER, user)

#define CONTROL_MEMBERS_spawn_request(X)                                                           \
    X(NUMBER, SHAPE, shape)                                                                        \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, ROTATION, rotation)                                                                    \
    X(VEC3, SIZE, size)                                                                            \
    X(NUMBER, USER, user)                                                                          \
    X(POINTS, POINTS, points, point_count, CAIRN_CONTROL_POINTS_MAX)

#define CONTROL_MEMBERS_create_joint_request(X)                                                    \
    X(NUMBER, KIND, kind)                                                                          \
    X(NUMBER, BODY_A, body_a)                                                                      \
    X(NUMBER, BODY_B, body_b)                                                                      \
    X(VEC3, ANCHOR_A, anchor_a)                                                                    \
    X(VEC3, ANCHOR_B, anchor_b)                                                                    \
    X(VEC3, AXIS, axis)                                                                            \
    X(REAL, NUMBER, number)                                                                        \
    X(REAL, BREAK_FORCE, break_force)

#define CONTROL_MEMBERS_act_request(X)                                                             \
    X(LIST, EDITS, edits, edit_count, edit, Edit, CAIRN_CONTROL_ACT_EDITS_MAX)                     \
    X(NUMBER, TICK_COUNT, tick_count)                                                              \
    X(NUMBER, FIELDS, fields)                                                                      \
    X(LIST, WATCHED, watched, watched_count, watched, Watched, CAIRN_CONTROL_WATCHED_MAX)

#define CONTROL_MEMBERS_act_answer(X)                                                              \
    X(NUMBER, TICK_COUNT, tick_count)                                                              \
    X(NUMBER, BODY_COUNT, body_count)                                                              \
    X(LIST, NUMBERS, numbers, number_count, number, Number, CAIRN_CONTROL_ACT_NUMBERS_MAX)

#define CONTROL_MEMBERS_edit(X)                                                                    \
    X(NUMBER, KIND, kind)                                                                          \
    X(NUMBER, BUTTONS, buttons)                                                                    \
    X(VEC3, MOVE, move)                                                                            \
    X(VEC3, AIM, aim)

#define CONTROL_MEMBERS_watched(X) X(NUMBER, BODY, body)

#define CONTROL_MEMBERS_number(X) X(REAL, VALUE, value)

#define CONTROL_MEMBERS_delete_request(X) X(NUMBER, BODY, body)

#define CONTROL_MEMBERS_set_position_request(X)                                                    \
    X(NUMBER, BODY, body)                                                                          \
    X(VEC3, POSITION, position)

#define CONTROL_MEMBERS_set_velocity_request(X)                                                    \
    X(NUMBER, BODY, body)                                                                          \
    X(VEC3, LINEAR_VELOCITY, linear_velocity)                                                      \
    X(VEC3, ANGULAR_VELOCITY, angular_velocity)

#define CONTROL_MEMBERS_impulse_request(X)                                                         \
    X(NUMBER, BODY, body)                                                                          \
    X(VEC3, IMPULSE, impulse)

#define CONTROL_MEMBERS_set_body_request(X)                                                        \
    X(NUMBER, BODY, body)                                                                          \
    X(NUMBER, PROPERTY, property)                                                                  \
    X(VEC3, VALUE, value)                                                                          \
    X(NUMBER, WORD, word)

#define CONTROL_MEMBERS_push_request(X)                                                            \
    X(NUMBER, BODY, body)                                                                          \
    X(NUMBER, KIND, kind)                                                                          \
    X(VEC3, PUSH, push)                                                                            \
    X(VEC3, PLACE, place)

#define CONTROL_MEMBERS_set_target_request(X)                                                      \
    X(NUMBER, BODY, body)                                                                          \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, ROTATION, rotation)

#define CONTROL_MEMBERS_set_gravity_request(X) X(VEC3, GRAVITY, gravity)

#define CONTROL_MEMBERS_explode_request(X)                                                         \
    X(VEC3, CENTRE, centre)                                                                        \
    X(REAL, RADIUS, radius)                                                                        \
    X(REAL, FALLOFF, falloff)                                                                      \
    X(REAL, IMPULSE_PER_AREA, impulse_per_area)                                                    \
    X(NUMBER, MASK, mask)                                                                          \
    X(NUMBER, SHIELD_MASK, shield_mask)

#define CONTROL_MEMBERS_fracture_request(X)                                                        \
    X(NUMBER, BODY, body)                                                                          \
    X(VEC3, POINT, point)                                                                          \
    X(NUMBER, PIECES, pieces)                                                                      \
    X(REAL, CROWDING, crowding)                                                                    \
    X(REAL, THICKNESS_MIN, thickness_min)                                                          \
    X(NUMBER, SEED, seed)

#define CONTROL_MEMBERS_get_request(X) X(NUMBER, BODY, body)

#define CONTROL_MEMBERS_joints_request(X)                                                          \
    X(NUMBER, FIRST, first)                                                                        \
    X(NUMBER, BODY, body)

#define CONTROL_MEMBERS_set_joint_request(X)                                                       \
    X(NUMBER, JOINT, joint)                                                                        \
    X(NUMBER, PROPERTY, property)                                                                  \
    X(VEC3, VALUE, value)                                                                          \
    X(NUMBER, WORD, word)

#define CONTROL_MEMBERS_get_joint_request(X) X(NUMBER, JOINT, joint)

#define CONTROL_MEMBERS_set_pose_request(X)                                                        \
    X(NUMBER, BODY, body)                                                                          \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, ROTATION, rotation)

#define CONTROL_MEMBERS_set_mass_request(X)                                                        \
    X(NUMBER, BODY, body)                                                                          \
    X(REAL, MASS, mass)                                                                            \
    X(VEC3, CENTRE, centre)                                                                        \
    X(VEC3, INERTIA, inertia)                                                                      \
    X(VEC3, PRODUCTS, products)

#define CONTROL_MEMBERS_set_shape_request(X)                                                       \
    X(NUMBER, SHAPE, shape)                                                                        \
    X(NUMBER, PROPERTY, property)                                                                  \
    X(VEC3, VALUE, value)                                                                          \
    X(NUMBER, WORD, word)

#define CONTROL_MEMBERS_get_body_request(X) X(NUMBER, BODY, body)

#define CONTROL_MEMBERS_shapes_request(X)                                                          \
    X(NUMBER, FIRST, first)                                                                        \
    X(NUMBER, BODY, body)

#define CONTROL_MEMBERS_spawn_compound_request(X)                                                  \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, ROTATION, rotation)                                                                    \
    X(NUMBER, USER, user)                                                                          \
    X(LIST, PARTS, parts, part_count, part, Part, CAIRN_CONTROL_PARTS_MAX)                         \
    X(POINTS, POINTS, points, point_count, CAIRN_CONTROL_POINTS_MAX)

#define CONTROL_MEMBERS_spawn_mesh_request(X)                                                      \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, ROTATION, rotation)                                                                    \
    X(NUMBER, USER, user)                                                                          \
    X(POINTS, POINTS, points, point_count, CAIRN_CONTROL_POINTS_MAX)                               \
    X(LIST, TRIANGLES, triangles, triangle_count, triangle, Triangle, CAIRN_CONTROL_TRIANGLES_MAX)

#define CONTROL_MEMBERS_spawn_height_field_request(X)                                              \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, ROTATION, rotation)                                                                    \
    X(NUMBER, USER, user)                                                                          \
    X(NUMBER, COLUMNS, columns)                                                                    \
    X(REAL, SPACING_X, spacing_x)                                                                  \
    X(REAL, SPACING_Z, spacing_z)                                                                  \
    X(LIST, HEIGHTS, heights, height_count, height, Height, CAIRN_CONTROL_HEIGHTS_MAX)

#define CONTROL_MEMBERS_part(X)                                                                    \
    X(NUMBER, SHAPE, shape)                                                                        \
    X(NUMBER, POINT_COUNT, point_count)                                                            \
    X(VEC3, SIZE, size)                                                                            \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, ROTATION, rotation)

#define CONTROL_MEMBERS_triangle(X)                                                                \
    X(NUMBER, A, a)                                                                                \
    X(NUMBER, B, b)                                                                                \
    X(NUMBER, C, c)

#define CONTROL_MEMBERS_height(X) X(REAL, VALUE, value)

#define CONTROL_MEMBERS_set_row_request(X)                                                         \
    X(NUMBER, JOINT, joint)                                                                        \
    X(VEC3, LINEAR_A, linear_a)                                                                    \
    X(VEC3, ANGULAR_A, angular_a)                                                                  \
    X(VEC3, LINEAR_B, linear_b)                                                                    \
    X(VEC3, ANGULAR_B, angular_b)                                                                  \
    X(REAL, LOWER, lower)                                                                          \
    X(REAL, UPPER, upper)                                                                          \
    X(REAL, VELOCITY, velocity)

#define CONTROL_MEMBERS_delete_joint_request(X) X(NUMBER, JOINT, joint)

#define CONTROL_MEMBERS_bodies_request(X) X(NUMBER, FIRST, first)

#define CONTROL_MEMBERS_ray_request(X)                                                             \
    X(VEC3, ORIGIN, origin)                                                                        \
    X(VEC3, TRANSLATION, translation)                                                              \
    X(NUMBER, MASK, mask)                                                                          \
    X(NUMBER, IGNORED_BODY, ignored_body)                                                          \
    X(NUMBER, HAS_SEEN_BY, has_seen_by)                                                            \
    X(NUMBER, SEEN_BY, seen_by)

#define CONTROL_MEMBERS_overlap_request(X)                                                         \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, HALF_EXTENTS, half_extents)                                                            \
    X(NUMBER, HAS_RADIUS, has_radius)                                                              \
    X(REAL, RADIUS, radius)                                                                        \
    X(NUMBER, MASK, mask)                                                                          \
    X(NUMBER, HAS_SEEN_BY, has_seen_by)                                                            \
    X(NUMBER, SEEN_BY, seen_by)

#define CONTROL_MEMBERS_diff_request(X)                                                            \
    X(LIMITED_TEXT, OTHER_ROOM, other_room, CAIRN_CONTROL_NAME_SIZE_MAX)

#define CONTROL_MEMBERS_faults_request(X)                                                          \
    X(NUMBER, CLIENT_ID, client_id)                                                                \
    X(REAL, LOSS, loss)                                                                            \
    X(REAL, DUPLICATES, duplicates)                                                                \
    X(REAL, DELAY_MS, delay_ms)                                                                    \
    X(REAL, JITTER_MS, jitter_ms)                                                                  \
    X(NUMBER, SEED, seed)

#define CONTROL_MEMBERS_features_answer(X)                                                         \
    X(NUMBER, PROTOCOL_VERSION, protocol_version)                                                  \
    X(NUMBER, SIM_VERSION, sim_version)                                                            \
    X(NUMBER, ROOMS_MAX, rooms_max)                                                                \
    X(NUMBER, CLIENTS_MAX, clients_max)                                                            \
    X(NUMBER, EDITS_PER_TICK_MAX, edits_per_tick_max)                                              \
    X(LIST, VERBS, verbs, verb_count, feature, VerbFeature, CAIRN_CONTROL_VERB_COUNT)

#define CONTROL_MEMBERS_rooms_answer(X)                                                            \
    X(LIST, ROOMS, rooms, room_count, room, RoomEntry, CAIRN_CONTROL_ROOMS_MAX)

#define CONTROL_MEMBERS_state_answer(X)                                                            \
    X(LIMITED_TEXT, SCENE, scene, CAIRN_NAME_SIZE_MAX)                                             \
    X(LIMITED_TEXT, RULES, rules, CAIRN_NAME_SIZE_MAX)                                             \
    X(NUMBER, PAUSED, paused)                                                                      \
    X(NUMBER, TICK_RATE_HZ, tick_rate_hz)                                                          \
    X(NUMBER, SPEED_THOUSANDTHS, speed_thousandths)                                                \
    X(NUMBER, SEED, seed)                                                                          \
    X(NUMBER, EDITS_REFUSED, edits_refused)                                                        \
    X(NUMBER, CREATES_REFUSED, creates_refused)                                                    \
    X(NUMBER, BODIES_DISABLED, bodies_disabled)                                                    \
    X(NUMBER, CLIENTS, clients)                                                                    \
    X(NUMBER, PLAYERS, players)                                                                    \
    X(NUMBER, BODIES, bodies)                                                                      \
    X(NUMBER, BODIES_AWAKE, bodies_awake)                                                          \
    X(NUMBER, TICKS_SKIPPED, ticks_skipped)                                                        \
    X(NUMBER, TICK_COST_NS_P50, tick_cost_ns_p50)                                                  \
    X(NUMBER, TICK_COST_NS_P99, tick_cost_ns_p99)                                                  \
    X(NUMBER, TICK_COST_NS_MAX, tick_cost_ns_max)                                                  \
    X(NUMBER, TICK_LATENESS_NS_P99, tick_lateness_ns_p99)                                          \
    X(NUMBER, INPUTS_TAKEN, inputs_taken)                                                          \
    X(NUMBER, INPUTS_LATE, inputs_late)                                                            \
    X(NUMBER, ROOTS_COMPARED, roots_compared)                                                      \
    X(NUMBER, ROOTS_DIFFERED, roots_differed)                                                      \
    X(NUMBER, RECORDING_BYTES, recording_bytes)

#define CONTROL_MEMBERS_clients_answer(X)                                                          \
    X(LIST, CLIENTS, clients, client_count, client, ClientEntry, CAIRN_CLIENTS_MAX)

#define CONTROL_MEMBERS_run_answer(X) X(NUMBER, TICK_COUNT, tick_count)

#define CONTROL_MEMBERS_save_answer(X) X(NUMBER, SIZE, size)

#define CONTROL_MEMBERS_saves_answer(X)                                                            \
    X(LIST, SAVES, saves, save_count, saved, SaveEntry, CAIRN_CONTROL_SAVES_MAX)

#define CONTROL_MEMBERS_save_read_answer(X)                                                        \
    X(NUMBER, SIZE, size)                                                                          \
    X(NUMBER, PLAYERS, players)                                                                    \
    X(NUMBER, PLAYERS_1, players_1)                                                                \
    X(NUMBER, PLAYERS_2, players_2)                                                                \
    X(NUMBER, PLAYERS_3, players_3)                                                                \
    X(LIMITED_BYTES, BYTES, bytes, byte_count, CAIRN_CONTROL_READ_SIZE_MAX)

#define CONTROL_MEMBERS_save_write_answer(X) X(NUMBER, RECEIVED_SIZE, received_size)

#define CONTROL_MEMBERS_edit_answer(X)                                                             \
    X(NUMBER, BODY, body)                                                                          \
    X(NUMBER, JOINT, joint)

#define CONTROL_MEMBERS_get_answer(X) X(ONE, BODY, body, body, BodyState)

#define CONTROL_MEMBERS_bodies_answer(X)                                                           \
    X(NUMBER, BODY_COUNT, body_count)                                                              \
    X(LIST, BODIES, bodies, listed_count, body, BodyState, CAIRN_CONTROL_BODIES_MAX)

#define CONTROL_MEMBERS_cast_request(X)                                                            \
    X(VEC3, POSITION, position)                                                                    \
    X(VEC3, HALF_EXTENTS, half_extents)                                                            \
    X(NUMBER, HAS_RADIUS, has_radius)                                                              \
    X(REAL, RADIUS, radius)                                                                        \
    X(VEC3, TRANSLATION, translation)                                                              \
    X(NUMBER, MASK, mask)                                                                          \
    X(NUMBER, IGNORED_BODY, ignored_body)                                                          \
    X(NUMBER, HAS_SEEN_BY, has_seen_by)                                                            \
    X(NUMBER, SEEN_BY, seen_by)

#define CONTROL_MEMBERS_closest_request(X)                                                         \
    X(VEC3, POSITION, position)                                                                    \
    X(REAL, DISTANCE_MAX, distance_max)                                                            \
    X(NUMBER, MASK, mask)                                                                          \
    X(NUMBER, IGNORED_BODY, ignored_body)                                                          \
    X(NUMBER, HAS_SEEN_BY, has_seen_by)                                                            \
    X(NUMBER, SEEN_BY, seen_by)

#define CONTROL_MEMBERS_joints_answer(X)                                                           \
    X(NUMBER, JOINT_COUNT, joint_count)                                                            \
    X(LIST, JOINTS, joints, listed_count, joint, JointState, CAIRN_CONTROL_JOINTS_MAX)

#define CONTROL_MEMBERS_get_body_answer(X)                                                         \
    X(ONE, BODY, body, body, BodyState)                                                            \
    X(NUMBER, ENABLED, enabled)                                                                    \
    X(NUMBER, ALLOW_SLEEP, allow_sleep)                                                            \
    X(NUMBER, GYROSCOPIC, gyroscopic)                                                              \
    X(NUMBER, BULLET, bullet)                                                                      \
    X(NUMBER, OWNER, owner)                                                                        \
    X(NUMBER, NAME, name)                                                                          \
    X(NUMBER, LOCKS, locks)                                                                        \
    X(REAL, LINEAR_DAMPING, linear_damping)                                                        \
    X(REAL, ANGULAR_DAMPING, angular_damping)                                                      \
    X(REAL, GRAVITY_SCALE, gravity_scale)                                                          \
    X(REAL, MASS, mass)                                                                            \
    X(VEC3, CENTRE, centre)                                                                        \
    X(VEC3, INERTIA, inertia)                                                                      \
    X(VEC3, PRODUCTS, products)

#define CONTROL_MEMBERS_shapes_answer(X)                                                           \
    X(NUMBER, SHAPE_COUNT, shape_count)                                                            \
    X(LIST, SHAPES, shapes, listed_count, shape_state, ShapeState, CAIRN_CONTROL_SHAPES_MAX)

#define CONTROL_MEMBERS_shape_state(X)                                                             \
    X(NUMBER, ID, id)                                                                              \
    X(NUMBER, BODY, body)                                                                          \
    X(NUMBER, KIND, kind)                                                                          \
    X(NUMBER, USER, user)                                                                          \
    X(NUMBER, NAME, name)                                                                          \
    X(NUMBER, CATEGORY, category)                                                                  \
    X(NUMBER, MASK, mask)                                                                          \
    X(NUMBER, FLAGS, flags)                                                                        \
    X(NUMBER, HULL, hull)                                                                          \
    X(NUMBER, MESH, mesh)                                                                          \
    X(VEC3, HALF_EXTENTS, half_extents)                                                            \
    X(REAL, RADIUS, radius)                                                                        \
    X(REAL, HALF_HEIGHT, half_height)                                                              \
    X(VEC3, POSITION, position)                                                                    \
    X(QUAT, ROTATION, rotation)                                                                    \
    X(REAL, DENSITY, density)                                                                      \
    X(REAL, FRICTION, friction)                                                                    \
    X(REAL, STATIC_FRICTION, static_friction)                                                      \
    X(REAL, ROLLING_RESISTANCE, rolling_resistance)                                                \
    X(REAL, SPIN_RESISTANCE, spin_resistance)                                                      \
    X(REAL, RESTITUTION, restitution)                                                              \
    X(NUMBER, FRICTION_COMBINE, friction_combine)                                                  \
    X(NUMBER, RESTITUTION_COMBINE, restitution_combine)                                            \
    X(VEC3, SURFACE_VELOCITY, surface_velocity)

#define CONTROL_MEMBERS_get_joint_answer(X)                                                        \
    X(ONE, JOINT, joint, joint, JointState)                                                        \
    X(REAL, ERROR, error)                                                                          \
    X(REAL, SWING, swing)                                                                          \
    X(REAL, TWIST, twist)                                                                          \
    X(NUMBER, COLLIDE_CONNECTED, collide_connected)                                                \
    X(NUMBER, USER, user)                                                                          \
    X(NUMBER, NAME, name)                                                                          \
    X(VEC3, ANCHOR_A, anchor_a)                                                                    \
    X(VEC3, ANCHOR_B, anchor_b)                                                                    \
    X(REAL, LENGTH, length)                                                                        \
    X(VEC3, AXIS_A, axis_a)                                                                        \
    X(VEC3, AXIS_B, axis_b)                                                                        \
    X(VEC3, NORMAL_A, normal_a)                                                                    \
    X(VEC3, NORMAL_B, normal_b)                                                                    \
    X(REAL, CONE, cone)                                                                            \
    X(NUMBER, LIMITED, limited)                                                                    \
    X(REAL, LOWER, lower)                                                                          \
    X(REAL, UPPER, upper)                                                                          \
    X(REAL, HERTZ, hertz)                                                                          \
    X(REAL, DAMPING, damping)                                                                      \
    X(NUMBER, SPRING, spring)                                                                      \
    X(REAL, SPRING_HERTZ, spring_hertz)                                                            \
    X(REAL, SPRING_DAMPING, spring_damping)                                                        \
    X(REAL, TARGET, target)                                                                        \
    X(VEC3, TARGET_POSITION, target_position)                                                      \
    X(QUAT, TARGET_ROTATION, target_rotation)                                                      \
    X(NUMBER, MOTOR, motor)                                                                        \
    X(REAL, MOTOR_SPEED, motor_speed)                                                              \
    X(VEC3, MOTOR_VELOCITY, motor_velocity)                                                        \
    X(REAL, MOTOR_FORCE, motor_force)                                                              \
    X(REAL, MOTOR_TORQUE, motor_torque)                                                            \
    X(NUMBER, STEERING, steering)                                                                  \
    X(REAL, STEERING_HERTZ, steering_hertz)                                                        \
    X(REAL, STEERING_DAMPING, steering_damping)                                                    \
    X(REAL, STEERING_TARGET, steering_target)                                                      \
    X(REAL, STEERING_TORQUE, steering_torque)                                                      \
    X(REAL, RATIO, ratio)                                                                          \
    X(VEC3, FIXED_A, fixed_a)                                                                      \
    X(VEC3, FIXED_B, fixed_b)                                                                      \
    X(VEC3, ROW_LINEAR_A, row_linear_a)                                                            \
    X(VEC3, ROW_ANGULAR_A, row_angular_a)                                                          \
    X(VEC3, ROW_LINEAR_B, row_linear_b)                                                            \
    X(VEC3, ROW_ANGULAR_B, row_angular_b)                                                          \
    X(REAL, ROW_LOWER, row_lower)                                                                  \
    X(REAL, ROW_UPPER, row_upper)                                                                  \
    X(REAL, ROW_VELOCITY, row_velocity)                                                            \
    X(NUMBER, BREAKABLE, breakable)                                                                \
    X(REAL, BREAK_FORCE, break_force)                                                              \
    X(REAL, BREAK_TORQUE, break_torque)                                                            \
    X(NUMBER, ARTICULATED, articulated)                                                            \
    X(REAL, DRIVE_STIFFNESS, drive_stiffness)                                                      \
    X(REAL, DRIVE_DAMPING, drive_damping)                                                          \
    X(VEC3, DRIVE_TORQUE, drive_torque)                                                            \
    X(REAL, JOINT_FRICTION, joint_friction)                                                        \
    X(REAL, ARMATURE, armature)

#define CONTROL_MEMBERS_ray_answer(X)                                                              \
    X(NUMBER, HIT, hit)                                                                            \
    X(NUMBER, BODY, body)                                                                          \
    X(NUMBER, SHAPE, shape)                                                                        \
    X(VEC3, POINT, point)                                                                          \
    X(VEC3, NORMAL, normal)                                                                        \
    X(REAL, FRACTION, fraction)

#define CONTROL_MEMBERS_closest_answer(X)                                                          \
    X(NUMBER, FOUND, found)                                                                        \
    X(NUMBER, BODY, body)                                                                          \
    X(NUMBER, SHAPE, shape)                                                                        \
    X(REAL, DISTANCE, distance)                                                                    \
    X(VEC3, POINT, point)                                                                          \
    X(VEC3, NORMAL, normal)

#define CONTROL_MEMBERS_overlap_answer(X)                                                          \
    X(NUMBER, SHAPE_COUNT, shape_count)                                                            \
    X(LIST, SHAPES, shapes, listed_count, shape, ShapeEntry, CAIRN_CONTROL_OVERLAPS_MAX)

#define CONTROL_MEMBERS_fracture_answer(X)                                                         \
    X(LIST, PIECES, pieces, piece_count, shape, ShapeEntry, CAIRN_FRACTURE_PIECES_MAX)

#define CONTROL_MEMBERS_hash_answer(X)                                                             \
    X(HASH, VISIBLE, visible)                                                                      \
    X(HASH, FULL, full)                                                                            \
    X(LIST, SECTIONS, sections, section_count, section, SectionHash, CAIRN_CONTROL_SECTIONS_MAX)

#define CONTROL_MEMBERS_diff_answer(X)                                                             \
    X(NUMBER, DIFFERENCE_COUNT, difference_count)                                                  \
    X(LIST, DIFFERENCES, differences, listed_count, difference, FieldDifference,                   \
        CAIRN_CONTROL_DIFFERENCES_MAX)

#define CONTROL_MEMBERS_body(X)                                                                    \
    X(NUMBER, ID, id)                                                                              \
    X(BODY_KIND, KIND, kind)                                                                       \
    X(FLAG, AWAKE, awake)                                                                          \
    X(NUMBER, USER, user)                                                                          \
    X(VEC3, POSITION, position)                                                                    \
    X(QUAT, ROTATION, rotation)                                                                    \
    X(VEC3, LINEAR_VELOCITY, linear_velocity)                                                      \
    X(VEC3, ANGULAR_VELOCITY, angular_velocity)

#define CONTROL_MEMBERS_joint(X)                                                                   \
    X(NUMBER, ID, id)                                                                              \
    X(NUMBER, KIND, kind)                                                                          \
    X(NUMBER, BODY_A, body_a)                                                                      \
    X(NUMBER, BODY_B, body_b)                                                                      \
    X(FLAG, DISABLED, disabled)                                                                    \
    X(REAL, POSITION, position)                                                                    \
    X(REAL, VELOCITY, velocity)                                                                    \
    X(VEC3, FORCE, force)                                                                          \
    X(VEC3, TORQUE, torque)

#define CONTROL_MEMBERS_feature(X)                                                                 \
    X(NUMBER, VERB, verb)                                                                          \
    X(FLAG, WRITES, writes)                                                                        \
    X(NAME, NAME, name)

#define CONTROL_MEMBERS_room(X)                                                                    \
    X(NAME, NAME, name)                                                                            \
    X(NUMBER, TICK, tick)

#define CONTROL_MEMBERS_saved(X)                                                                   \
    X(NAME, NAME, name)                                                                            \
    X(NUMBER, SIZE, size)

#define CONTROL_MEMBERS_client(X)                                                                  \
    X(NUMBER, CLIENT_ID, client_id)                                                                \
    X(MODE, MODE, mode)                                                                            \
    X(NUMBER, SLOT, slot)                                                                          \
    X(NUMBER, RTT_US, rtt_us)                                                                      \
    X(NUMBER, INPUTS_LATE, inputs_late)                                                            \
    X(NUMBER, RIGHTS, rights)

#define CONTROL_MEMBERS_shape(X)                                                                   \
    X(NUMBER, BODY, body)                                                                          \
    X(NUMBER, SHAPE, shape)

#define CONTROL_MEMBERS_section(X)                                                                 \
    X(NAME, NAME, name)                                                                            \
    X(HASH, HASH, hash)

#define CONTROL_MEMBERS_difference(X)                                                              \
    X(NAME, SECTION, section)                                                                      \
    X(NUMBER, ELEMENT, element)                                                                    \
    X(NAME, FIELD, field)                                                                          \
    X(NUMBER, BITS_HERE, bits_here)                                                                \
    X(NUMBER, BITS_OTHER, bits_other)
