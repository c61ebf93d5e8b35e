// SPDX-License-Identifier: MIT

// An explanation as a paragraph and as JSON.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "recording/recorded_world.h"
#include "sim/debug/passport.h"
#include "tools/replay/diagnosis.h"
#include <cairn/version.h>

typedef struct text {
    char *bytes;
    size_t size;
    size_t at;
} text;

static void append(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = t->size - t->at;
    const int wrote = vsnprintf(t->bytes + t->at, room, format, arguments);
    va_end(arguments);
    t->at += wrote < 0 ? 0 : (size_t)wrote < room ? (size_t)wrote : room - 1;
}

static void append_place(text *t, const cairn_explanation *e) {
    append(t, "tick %llu", (unsigned long long)e->tick);
    if (!e->stage_known) {
        return;
    }
    append(t, ", stage %s", cairn_stage_name(e->stage.stage));
    if (e->stage.pass == CAIRN_PASS_SWEEP) {
        append(t, ", sweep %u", e->stage.substep);
    } else if (e->stage.pass != CAIRN_PASS_NONE) {
        append(t, ", substep %u, %s", e->stage.substep, cairn_pass_name(e->stage.pass));
    }
}

static void append_element(text *t, const cairn_explained_word *w) {
    const char *section = cairn_array_section_name(w->at.array);
    if (w->body_count == 2) {
        const bool joint = strcmp(section, "joints") == 0;
        append(t, ", %s %u-%u", joint ? "joint" : "contact", w->bodies[0], w->bodies[1]);
    } else if (w->body_count == 1) {
        append(t, ", body %u", w->bodies[0]);
    } else {
        append(t, ", %s %u", section, w->at.element);
    }
    append(t, ", %s", cairn_array_field_name(w->at.array, w->at.word));
}

static const char *passport_phrase(const cairn_diagnosis *q, uint32_t faults) {
    return (q->faults & faults) != 0 ? "its passport says so, and " : "";
}

static void append_certain_cause(text *t, const cairn_diagnosis *q, const char *peer) {
    const cairn_explanation *e = q->out;
    const uint32_t contraction = CAIRN_PASSPORT_CONTRACTION | CAIRN_PASSPORT_CONTRACTION_TURNS;
    const uint32_t flush = CAIRN_PASSPORT_FLUSH_TO_ZERO | CAIRN_PASSPORT_DENORMALS_ARE_ZERO |
                           CAIRN_PASSPORT_SUBNORMALS;
    switch (e->hazard) {
    case CAIRN_HAZARD_CONTRACTION:
        append(t,
            "the %s computes with fused multiply-add: %sthis build reaches its state hash when it "
            "is compiled with contraction; compile the %s with -ffp-contract=off",
            peer, passport_phrase(q, contraction), peer);
        return;
    case CAIRN_HAZARD_FLUSH_TO_ZERO:
        append(t,
            "the %s treats subnormal numbers as zero: %sthis build %s reaches its state hash; "
            "something in its step, probably called by the rules, switches that mode on",
            peer, passport_phrase(q, flush), e->trial);
        return;
    case CAIRN_HAZARD_ROUNDING:
        append(t, "the %s rounds differently: %sthis build %s reaches its state hash", peer,
            passport_phrase(q, CAIRN_PASSPORT_ROUNDING), e->trial);
        return;
    case CAIRN_HAZARD_WARM_START:
        append(t,
            "the %s began the step without the impulses of the last one: without them this build "
            "reaches its state hash; they were lost when its state was restored",
            peer);
        return;
    case CAIRN_HAZARD_FIELD_CHANGED:
        append(t, "the memory of the %s was changed after the step: no other word differs", peer);
        return;
    default:
        append(t,
            "the step reads memory that is not part of the state, probably an uninitialised "
            "variable in the rules: other bytes there change the state hash on this machine, too");
        return;
    }
}

static void append_likely_cause(text *t, const cairn_diagnosis *q, const char *peer) {
    switch (q->out->hazard) {
    case CAIRN_HAZARD_CONTRACTION:
    case CAIRN_HAZARD_FLUSH_TO_ZERO:
    case CAIRN_HAZARD_ROUNDING:
    case CAIRN_HAZARD_ARITHMETIC:
        append(t,
            "the passport of the %s says: %s; but no step computed that way here reaches its "
            "state hash",
            peer, cairn_passport_fault_words(q->faults));
        return;
    case CAIRN_HAZARD_WARM_START:
        append(t,
            "the client did not begin with the state on which both agreed: no contact and no joint "
            "in it has an impulse; they were probably lost when the state was restored");
        return;
    case CAIRN_HAZARD_FIELD_CHANGED:
        append(t, "%s",
            q->out->start_agreed
                ? "the client's step was right when it was repeated: its memory was changed from "
                  "outside, or the step reads memory that is not part of the state"
                : "the client did not begin the step with the state on which both agreed: its "
                  "memory was changed from outside before the step");
        return;
    case CAIRN_HAZARD_RULES:
        append(t,
            "commands and rules alone lead to different worlds: the %s runs other rules under the "
            "same name and version, or its rules read memory that is not part of the state",
            peer);
        return;
    default:
        append(t, "no known hazard leads to the state hash of the %s", peer);
        if (q->capsule.after == NULL && q->capsule.desync.stages_client_size == 0) {
            append(t,
                "; the server wrote this capsule and knows no more of the client than that hash. "
                "Either the client's memory was changed, or its rules keep state outside their "
                "block: a capsule that the client writes (on_desync_report, cairn-bot --capsules) "
                "says which body differs");
        }
        return;
    }
}

void cairn_diagnosis_write_text(const cairn_diagnosis *q) {
    cairn_explanation *e = q->out;
    text t = {.bytes = e->text, .size = sizeof e->text};
    const char *peer = q->server_diverged ? "server" : "client";
    append_place(&t, e);
    if (e->hazard == CAIRN_HAZARD_NONE) {
        append(&t, ": both sides reached the same state hash; there is nothing to explain");
        return;
    }
    if (e->word.known) {
        append_element(&t, &e->word);
        if (e->word.is_float && e->word.ulps != UINT32_MAX) {
            append(&t, ", %u ulp%s", e->word.ulps, e->word.ulps == 1 ? "" : "s");
        }
        char here[CAIRN_RECORDED_WORD_SIZE], there[CAIRN_RECORDED_WORD_SIZE];
        append(&t, ", bit %u: %s here, %s on the %s", e->word.bit,
            cairn_recorded_word_text(e->word.at.bits_a, e->word.is_float, here),
            cairn_recorded_word_text(e->word.at.bits_b, e->word.is_float, there), peer);
    }
    if (e->difference_count > 0) {
        append(&t, ", %u word%s differ%s after the step", e->difference_count,
            e->difference_count == 1 ? "" : "s", e->difference_count == 1 ? "s" : "");
    }
    append(&t, "; ");
    if (e->certain) {
        append_certain_cause(&t, q, peer);
    } else {
        append_likely_cause(&t, q, peer);
    }
    const char *const sides[] = {"neither side", "the server", "the client"};
    if (q->capsule.after_refused[0] != '\0') {
        append(&t, ". The client's state after the step is invalid: %s", q->capsule.after_refused);
    }
    append(&t, ". %s build (%s) agrees with %s.", e->start_agreed ? "This" : "From that state this",
        cairn_build_text(), sides[e->agrees_with]);
}

static void put_word(cairn_json *json, const cairn_explained_word *w) {
    cairn_json_put_text(json, "section", cairn_array_section_name(w->at.array));
    cairn_json_put_count(json, "array", w->at.array);
    cairn_json_put_count(json, "element", w->at.element);
    cairn_json_put_count(json, "word", w->at.word);
    cairn_json_put_text(json, "field", cairn_array_field_name(w->at.array, w->at.word));
    cairn_json *bodies = cairn_json_put_array(json, "bodies");
    for (uint32_t i = 0; i < w->body_count; ++i) {
        cairn_json_put_count(bodies, NULL, w->bodies[i]);
    }
    cairn_json_put_count(json, "bit", w->bit);
    cairn_json_put_count(json, "bits_here", w->at.bits_a);
    cairn_json_put_count(json, "bits_peer", w->at.bits_b);
    if (w->is_float) {
        cairn_json_put_count(json, "ulps", w->ulps);
    }
}

cairn_json *cairn_explanation_json(const cairn_explanation *e) {
    static const char *const sides[] = {"neither", "server", "client"};
    cairn_json *json = cairn_json_create();
    cairn_json_put_count(json, "tick", e->tick);
    cairn_json_put_text(json, "agrees_with", sides[e->agrees_with]);
    cairn_json_put_bool(json, "start_agreed", e->start_agreed);
    cairn_json_put_bool(json, "repeats", e->repeats);
    if (e->stage_known) {
        cairn_json_put_text(json, "stage", cairn_stage_name(e->stage.stage));
        cairn_json_put_count(json, "substep", e->stage.substep);
        cairn_json_put_text(json, "pass", cairn_pass_name(e->stage.pass));
    }
    if (e->word.known) {
        put_word(json, &e->word);
    }
    cairn_json_put_count(json, "words_that_differ", e->difference_count);
    cairn_json_put_text(json, "hazard", cairn_hazard_name(e->hazard));
    cairn_json_put_bool(json, "certain", e->certain);
    cairn_json_put_text(json, "text", e->text);
    return json;
}
