// SPDX-License-Identifier: MIT
#include "server/control/verbs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/version.h>

#define READS .needs_no_room = false, .writes = false
#define WRITES .needs_no_room = false, .writes = true
#define MOVES .needs_no_room = false, .writes = true, .moves = true
#define READS_SERVER .needs_no_room = true, .writes = false
#define WRITES_SERVER .needs_no_room = true, .writes = true
#define ROW(VERB, name, does) [CAIRN_CONTROL_##VERB] = {cairn_control_on_##name, does},

static const cairn_control_verb_row rows[CAIRN_CONTROL_VERB_COUNT] = {EACH_CONTROL_VERB(ROW)};

const cairn_control_verb_row *cairn_control_verb_find_row(uint32_t verb) {
    return verb < CAIRN_CONTROL_VERB_COUNT && rows[verb].action != NULL ? &rows[verb] : NULL;
}

cairn_control_refusal cairn_control_refuse(
    cairn_control_context *c, cairn_control_refusal refusal, const char *format, ...) {
    CAIRN_ASSERT(refusal > CAIRN_CONTROL_DONE && refusal < CAIRN_CONTROL_REFUSAL_COUNT);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->reason, CAIRN_TEXT_SIZE_MAX + 1, format, arguments);
    va_end(arguments);
    return refusal;
}

void cairn_control_name_set(char name[CAIRN_NAME_SIZE_MAX + 1], const char *text) {
    const size_t length = strlen(text);
    const size_t size = length < CAIRN_NAME_SIZE_MAX ? length : CAIRN_NAME_SIZE_MAX;
    memset(name, 0, CAIRN_NAME_SIZE_MAX + 1);
    memcpy(name, text, size);
}

cairn_control_refusal cairn_control_on_features(cairn_control_context *c) {
    uint32_t count = 0;
    for (uint32_t verb = 1; verb < CAIRN_CONTROL_VERB_COUNT; ++verb) {
        const cairn_control_verb_row *row = cairn_control_verb_find_row(verb);
        CAIRN_ASSERT(row != NULL);
        cairn_control_feature *feature = &c->lists->features[count++];
        feature->verb = verb;
        feature->writes = row->writes ? 1 : 0;
        cairn_control_name_set(feature->name, cairn_control_verb_text(verb));
    }
    c->answer.features = (cairn_control_features_answer){
        .protocol_version = CAIRN_PROTOCOL_VERSION,
        .sim_version = CAIRN_SIM_VERSION,
        .rooms_max = c->server->config.rooms_max,
        .clients_max = c->server->config.clients_max,
        .edits_per_tick_max = CAIRN_INBOX_EDITS_MAX,
        .verbs = c->lists->features,
        .verb_count = count,
    };
    return CAIRN_CONTROL_DONE;
}
