# SPDX-License-Identifier: MIT
"""usage: tests/sim/mutants.py SOURCE           checks that every patch below still applies
       tests/sim/mutants.py SOURCE FOLDER    copies the tree to FOLDER and applies them there

Negative controls of the golden checker: a test that cannot fail is no evidence. Each mutant breaks
determinism in one way. The copy is built with CAIRN_NEGATIVE_CONTROL=faults (tests/matrix); the
golden checker chooses a mutant (--fault N) and must then see other hashes. No mutant is part of the
sources themselves."""

import pathlib
import shutil
import sys

# Number: (what is wrong, [(file, anchor, replacement)]). An anchor occurs once in its file. FAULT in
# a replacement is true if this mutant was chosen.
MUTANTS = {
    1: ("a restore loses the accumulated impulses that warm starting needs", [(
        "sim/serialize/save.c",
        "    cairn_rewrite_end(&rewrite);\n",
        """    for (uint32_t i = 0; FAULT && i < world->state.settings->contact_count; ++i) {
        for (uint32_t k = 0; k < world->state.contacts[i].point_count; ++k) {
            world->state.contacts[i].points[k].normal_impulse = 0.0f;
        }
        cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, i);
    }
    cairn_rewrite_end(&rewrite);
""")]),
    2: ("constraints are solved in another order", [(
        "sim/soft_step/substeps.c",
        "solve_colour(share, set, stage, i);",
        "solve_colour(share, set, stage, FAULT ? CAIRN_COLOURS - 1 - i : i);",
    ), (
        "sim/pgs/contact_solver.c",
        "solve_contact(world, &world->pgs->contacts[i]);",
        "solve_contact(world, &world->pgs->contacts[FAULT"
        " ? world->pgs->contact_graph.edge_count - 1 - i : i]);")]),
    3: ("a sum of three terms is added in another order", [(
        "sim/soft_step/contact_rows.h",
        "return velocity.linear + angular_1 - angular_2;",
        "return FAULT ? velocity.linear + (angular_1 - angular_2)"
        " : velocity.linear + angular_1 - angular_2;",
    ), (
        "sim/pgs/row_math.h",
        "const float sum = linear + angular_a + angular_b;",
        "const float sum = FAULT ? linear + (angular_a + angular_b) : linear + angular_a + angular_b;")]),
    4: ("constraints that share a body lie side by side in the lanes", [(
        "sim/constraint/graph.c",
        "edge->colour * cells_of_colour",
        "(FAULT ? edge->colour / 2 * 2 : edge->colour) * cells_of_colour")]),
    5: ("what one lane needs is done to its neighbours as well", [(
        "sim/soft_step/contact_impact.h",
        "lanes_less(zero, wide->restitution)",
        "lanes_less(lanes_all(FAULT ? -1.0f : 0.0f), wide->restitution)")]),
    6: ("colours are solved in another order if there are helper threads", [(
        "sim/soft_step/substeps.c",
        "    for (uint32_t i = 0; i < CAIRN_COLOURS; ++i) {\n",
        "    for (uint32_t k = 0; k < CAIRN_COLOURS; ++k) {\n"
        "        const uint32_t i = FAULT && share->world->scheduler->parallel != NULL"
        " ? CAIRN_COLOURS - 1 - k : k;\n")]),
    7: ("helper threads keep the floating-point mode that they came with", [(
        "sim/task/task_scheduler.c",
        "        const uint64_t mode = cairn_float_enter();\n",
        "        const uint64_t mode = FAULT ? 0 : cairn_float_enter();\n",
    ), (
        "sim/task/task_scheduler.c",
        "        cairn_float_leave(mode);\n",
        "        if (!FAULT) {\n            cairn_float_leave(mode);\n        }\n")]),
}
SPDX = "// SPDX-License-Identifier: MIT\n"


def apply(texts, number):
    for path, anchor, replacement in MUTANTS[number][1]:
        count = texts[path].count(anchor)
        if count != 1:
            sys.exit(f"mutants.py: mutant {number} ({MUTANTS[number][0]}): its anchor occurs {count} times"
                     f" in {path} and must occur once; adapt the patch to the new code:\n{anchor}")
        replacement = replacement.replace("FAULT", f"(cairn_negative_control == {number})")
        texts[path] = texts[path].replace(anchor, replacement)


def mutated(source):
    paths = {path for _, patches in MUTANTS.values() for path, _, _ in patches}
    texts = {path: (source / path).read_text() for path in sorted(paths)}
    for number in sorted(MUTANTS):
        apply(texts, number)
    declaration = "extern unsigned cairn_negative_control;\n"
    return {path: text.replace(SPDX, SPDX + declaration, 1) for path, text in texts.items()}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    texts = mutated(source)
    if len(sys.argv) == 3:
        folder = pathlib.Path(sys.argv[2])
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("build", "build-*", ".git"))
        for path, text in texts.items():
            (folder / path).write_text(text)
    print(f"{len(MUTANTS)} mutants in {len(texts)} files")


main()
