// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/test_write.h"

#include <stdlib.h>
#include <string.h>

#include "tools/replay/shrink/test_world.h"

// How the test notices the failure.
typedef enum way {
    WAY_PREDICATE,
    WAY_RESTORE,
    WAY_LANES,
    WAY_HASHES, // of this program, which others do not compute
    WAY_CRASH,
} way;

static way way_of(const cairn_oracle *oracle) {
    switch (oracle->kind) {
    case CAIRN_ORACLE_PREDICATE:
        return WAY_PREDICATE;
    case CAIRN_ORACLE_RESTORE:
        return WAY_RESTORE;
    case CAIRN_ORACLE_LANES:
        return WAY_LANES;
    case CAIRN_ORACLE_RULES:
        return WAY_CRASH;
    default:
        return WAY_HASHES;
    }
}

static const cairn_rules *rules_of(const cairn_repro *repro) {
    cairn_world *world = cairn_repro_world(repro);
    const cairn_rules *rules = world != NULL ? cairn_world_settings(world)->rules : NULL;
    cairn_world_destroy(world);
    return rules;
}

// Rules of a game come from a file, as every program takes them.
static bool from_file(const cairn_rules *rules) {
    return rules != NULL && strcmp(rules->name, cairn_rules_sandbox.name) != 0;
}

static void write_head(const cairn_repro *repro, const cairn_oracle *oracle, const char *name,
    const char *from, FILE *out) {
    const bool file = from_file(rules_of(repro));
    fprintf(out,
        "// Made by cairn-replay shrink of %s: %s.\n"
        "// It ends with 1 while it fails so, and with 0 when it does not%s.\n"
        "//     cc -std=c17 %s $(pkg-config --cflags --libs %s) -lm -o test && ./test%s\n"
        "%s#include <cairn/sim.h>\n#include <math.h>\n#include <stdio.h>\n"
        "#include <stdlib.h>\n\n"
        "static void must(cairn_status status) {\n"
        "    if (status != CAIRN_OK) {\n"
        "        fprintf(stderr, \"cannot be tested: %%s\\n\", cairn_status_text(status));\n"
        "        exit(2);\n    }\n}\n\n",
        from, cairn_oracle_text(oracle),
        oracle->kind == CAIRN_ORACLE_RULES ? "; an assertion ends it with a signal" : "", name,
        file ? "cairn-server" : "cairn-sim", file ? " RULES.so" : "",
        file ? "#include <cairn/rules_file.h>\n#include <cairn/rules_registry.h>\n" : "");
}

static void write_commands(const cairn_play *play, FILE *out) {
    if (play->count == 0) {
        return;
    }
    fputs("static const struct {\n    uint64_t tick;\n    cairn_command command;\n} inputs[] = {\n",
        out);
    for (uint32_t i = 0; i < play->count; ++i) {
        const cairn_command *c = &play->commands[i].command;
        fprintf(out, "    {%llu, {%u, %u, %u, %uu, ", (unsigned long long)play->commands[i].tick,
            c->kind, c->slot, c->sequence, c->buttons);
        const cairn_vec3 vectors[] = {c->move, c->aim};
        for (int k = 0; k < 2; ++k) {
            fputs(k == 0 ? "{" : ", {", out);
            cairn_test_write_float(vectors[k].x, out);
            fputs(", ", out);
            cairn_test_write_float(vectors[k].y, out);
            fputs(", ", out);
            cairn_test_write_float(vectors[k].z, out);
            fputc('}', out);
        }
        fputs("}},\n", out);
    }
    fputs("};\n\n", out);
}

static void write_step(const cairn_play *play, FILE *out) {
    fputs("// Steps tick number `at` of the test.\n"
          "static void step(cairn_world *world, uint64_t at) {\n",
        out);
    if (play->count == 0) {
        fputs("    (void)at;\n    cairn_world_step(world, NULL, 0);\n}\n\n", out);
        return;
    }
    fputs("    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];\n"
          "    uint32_t count = 0;\n"
          "    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i) {\n"
          "        if (inputs[i].tick == at) {\n"
          "            commands[count++] = inputs[i].command;\n"
          "        }\n    }\n"
          "    cairn_commands_sort(commands, count);\n"
          "    cairn_world_step(world, commands, count);\n}\n\n",
        out);
}

static bool write_hashes(const cairn_repro *repro, FILE *out) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    cairn_world *world = cairn_repro_world(repro);
    uint32_t next = 0;
    if (world == NULL) {
        return false;
    }
    fputs("// The state hash after each tick, as the program has it that wrote this.\n"
          "static const cairn_hash128 expected[] = {\n",
        out);
    for (uint64_t at = 0; at < repro->play.ticks; ++at) {
        const uint32_t count = cairn_play_next(&repro->play, at, &next, commands);
        cairn_world_step(world, commands, count);
        const cairn_hash128 hash = cairn_world_hash_read(world).full;
        fprintf(out, "    {.lo = UINT64_C(%llu), .hi = UINT64_C(%llu)},\n",
            (unsigned long long)hash.lo, (unsigned long long)hash.hi);
    }
    fputs("};\n\n", out);
    cairn_world_destroy(world);
    return true;
}

static void write_rules(const cairn_repro *repro, FILE *out) {
    const cairn_rules *rules = rules_of(repro);
    if (rules == NULL) {
        fputs("int main(void) {\n    cairn_world *world = start(NULL);\n", out);
    } else if (!from_file(rules)) {
        fputs("int main(void) {\n    cairn_world *world = start(&cairn_rules_sandbox);\n", out);
    } else {
        fprintf(out,
            "int main(int argc, char **argv) {\n"
            "    char error[CAIRN_RULES_FILE_ERROR_SIZE] = \"name the rules file\";\n"
            "    const cairn_rules *rules;\n"
            "    if (argc != 2 || !cairn_rules_load(argv[1], error) ||\n"
            "        !cairn_rules_find(\"%s\", &rules)) {\n"
            "        fprintf(stderr, \"cannot be tested: %%s\\n\", error);\n"
            "        return 2;\n    }\n"
            "    cairn_world *world = start(rules);\n",
            rules->name);
    }
}

static void write_main(const cairn_repro *repro, way how, FILE *out) {
    static const char *const prepare[] = {
        [WAY_PREDICATE] = "",
        [WAY_RESTORE] = "    cairn_world *other = start(cairn_world_settings(world)->rules);\n"
                        "    const size_t size = cairn_world_save_size_max(world);\n"
                        "    void *save = malloc(size);\n",
        [WAY_LANES] = "    cairn_world *other = start(cairn_world_settings(world)->rules);\n"
                      "    must(cairn_world_set_lanes(other, cairn_world_lanes(world) == 1 ? 4 : "
                      "1));\n",
        [WAY_HASHES] = "",
        [WAY_CRASH] = "",
    };
    const char *const restore =
        "        must(cairn_world_load(other, save, cairn_world_save(world, save, size)));\n";
    const bool two = how == WAY_RESTORE || how == WAY_LANES;
    static const char *const question[] = {
        [WAY_PREDICATE] = "fails(world)",
        [WAY_RESTORE] = "cairn_world_diff(world, other, NULL, 0) > 0",
        [WAY_LANES] = "cairn_world_diff(world, other, NULL, 0) > 0",
        [WAY_HASHES] = "!cairn_hash_equal(cairn_world_hash_read(world).full, expected[at])",
        [WAY_CRASH] = "false",
    };
    static const char *const finish[] = {
        [WAY_PREDICATE] = "",
        [WAY_RESTORE] = "    free(save);\n    cairn_world_destroy(other);\n",
        [WAY_LANES] = "    cairn_world_destroy(other);\n",
        [WAY_HASHES] = "",
        [WAY_CRASH] = "",
    };
    write_rules(repro, out);
    fprintf(out,
        "%s    bool failed = false;\n"
        "    for (uint64_t at = 0; at < %llu && !failed; ++at) {\n%s"
        "        step(world, at);\n%s"
        "        failed = %s;\n    }\n%s"
        "    printf(failed ? \"fails after tick %%llu\\n\" : \"does not fail, up to tick "
        "%%llu\\n\",\n        (unsigned long long)cairn_world_tick(world));\n"
        "    cairn_world_destroy(world);\n    return failed ? 1 : 0;\n}\n",
        prepare[how], (unsigned long long)repro->play.ticks, how == WAY_RESTORE ? restore : "",
        two ? "        step(other, at);\n" : "", question[how], finish[how]);
}

bool cairn_test_write(const cairn_repro *repro, const cairn_oracle *oracle, const char *name,
    const char *from, FILE *out) {
    const way how = way_of(oracle);
    write_head(repro, oracle, name, from, out);
    bool good = cairn_test_write_start(repro, out);
    write_commands(&repro->play, out);
    write_step(&repro->play, out);
    if (how == WAY_PREDICATE) {
        cairn_predicate_write_c(&repro->predicate, out);
    } else if (how == WAY_HASHES) {
        good = good && write_hashes(repro, out);
    }
    write_main(repro, how, out);
    return good && ferror(out) == 0;
}
