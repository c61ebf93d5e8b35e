// SPDX-License-Identifier: MIT
#pragma once

// The codec's tables: which kinds of messages and chunks there are.

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
    X(KEYFRAME, keyframe, Keyframe)                                                                \
    X(DELTA, delta, Delta)                                                                         \
    X(TICKS, ticks, Ticks)                                                                         \
    X(STATE, state, State)                                                                         \
    X(RESYNC_RESPONSE, resync_response, ResyncResponse)                                            \
    X(EVENT, event, Event)                                                                         \
    X(ANSWER, answer, Answer)

// Every kind of chunk, in the same way.
#define EACH_CHUNK(X)                                                                              \
    X(START, start, ChunkStart)                                                                    \
    X(TICKS, ticks, ChunkTicks)                                                                    \
    X(END, end, ChunkEnd)                                                                          \
    X(KEYFRAME, keyframe, ChunkKeyframe)                                                           \
    X(REPLACE, replace, ChunkReplace)                                                              \
    X(DESYNC, desync, ChunkDesync)
