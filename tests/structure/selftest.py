# SPDX-License-Identifier: MIT
"""Plants one fault for each rule and expects the complaint: a checker that cannot fail checks
nothing. usage: selftest.py COMPILER CLANG_FORMAT (the latter may be empty)"""

import os
import sys
import tempfile
import unittest

import check
import hardened
import layout
import rules
import techniques

TABLE = """
| room | what lives there | may include | outside library |
| --- | --- | --- | --- |
| `base/` | bytes | nothing | none |
| `sim/` | the world | base | none |
| `net/` | sessions | base | libsodium in `crypto.c` |
| `server/` | rooms | all above | libuv in `daemon/uv_driver.c` |
| `client_lib/` | clients | all above but server | libuv in `client_uv.c` |
| `tests/` | everything else | all | CMocka |
"""
SPDX = "// SPDX-License-Identifier: MIT\n"
COMPILER = "cc"
CLANG_FORMAT = ""


def tree_with(path="", text="", **more):
    tree = {
        "docs/ARCHITECTURE.md": TABLE,
        "README.md": "# cairn\n",
        "base/a.h": SPDX + "#pragma once\n#include <stdint.h>\n",
        "base/a.c": SPDX + '#include "base/a.h"\n',
        "net/crypto.c": SPDX + '#include <sodium.h>\n#include "base/a.h"\n',
        "server/daemon/uv_driver.c": SPDX + '#include <uv.h>\n#include "net/crypto.h"\n#include <time.h>\n',
        "tests/a_test.c": SPDX + '#include <cmocka.h>\n#include "server/server.h"\n',
    }
    if path:
        tree[path] = text
    return {**tree, **more}


class EveryRuleCanFail(unittest.TestCase):
    def expect(self, rule, complaint, path, text):
        self.assertEqual([], rules.TREE_RULES[rule](tree_with()), "the tree without the fault")
        complaints = rules.TREE_RULES[rule](tree_with(path, text))
        self.assertTrue(any(complaint in line for line in complaints), complaints)

    # The rule, its complaint, the path and the text that break it.
    FAULTS = {
        "a room above": ("includes", "base/ may not include sim/", "base/b.c", '#include "sim/world/world.h"\n'),
        "a room beside": ("includes", "sim/ may not include net/", "sim/b.c", '#include "net/link.h"\n'),
        "the room that is left out": ("includes", "client_lib/ may not include server/", "client_lib/b.c",
                                      '#include "server/server.h"\n'),
        "an include that is not from the root": ("includes", "not written from the root", "net/b.c", '#include "seal.h"\n'),
        "a function that rules files do not get": ("lent", "cairn_body_fly is neither in", "include/cairn/sim.h",
                                                   "bool cairn_body_fly(cairn_world *world, cairn_body_id body);\n"),
        "a function that no header has": ("lent", "cairn_body_fly is not declared", "rules_file/functions.inc",
                                          "X(cairn_body_fly)\n"),
        "libsodium in a second file": ("includes", "libsodium is not named", "net/b.c", "#include <sodium.h>\n"),
        "libuv in a second file": ("includes", "libuv is not named", "server/room/room.c", "  # include <uv.h>\n"),
        "threads in a second file": ("includes", "pthreads is not named", "sim/b.c", "#include <threads.h>\n"),
        "time outside a driver": ("includes", "operating system", "server/room/room.c", "#include <time.h>\n"),
        "sockets outside a driver": ("includes", "operating system", "sim/b.c", "#include <sys/socket.h>\n"),
        "an example that knows the inside": ("includes", "which is not public", "docs/example_b.c", '#include "sim/step.h"\n'),
        "a room without a row": ("includes", "not in the table", "attic/b.c", ""),
        "a lost table": ("includes", "was not found", "docs/ARCHITECTURE.md", "# Architecture\n"),
        "the own header second": ("includes", "before its own header", "base/a.c", '#include <stdint.h>\n#include "base/a.h"\n'),
        "no SPDX line": ("spdx", "net/b.c", "net/b.c", '#include "base/a.h"\n' + SPDX),
        "no SPDX line in a script": ("spdx", "tests/run.sh", "tests/run.sh", "#!/bin/sh\necho\n"),
        "a last line without an end": ("endings", "net/b.c", "net/b.c", SPDX + "int a;"),
        "a long file": ("lengths", "801 lines", "net/b.c", "\n" * 801),
    }

    def test_each_fault_is_found(self):
        for name, fault in self.FAULTS.items():
            with self.subTest(name):
                self.expect(*fault)

    def test_a_long_function(self):
        body = "    work();\n" * 69
        self.expect("lengths", "long_one has 71 lines", "net/b.c",
                    "static void long_one(\n    int a) {\n" + body + "}\n")
        self.assertEqual([], rules.check_lengths(
            tree_with("net/b.c", "void one(int a) {\n" + "    work();\n" * 68 + "}\n")))

    def test_a_table_is_no_function(self):
        text = "static const int a[] = {\n" + "    (1),\n" * 90 + "};\n"
        self.assertEqual([], rules.functions_of(text))

    def test_forbidden_words(self):
        for path, text in [
            ("net/b.c", "// TO" + "DO later\n"),
            ("tests/run.sh", "cd /home/" + "somebody\n"),
            ("cmake/flags.cmake", "-ffast" + "-math\n"),
            ("CMakePresets.json", "-Ofast\n"),
            ("sim/b.c", "#pragma STDC FP_CONTRACT ON\n"),
            ("sim/b.c", '__attribute__((optimize("O3")))\n'),
            ("sim/b.c", "    x = fminf(a, b);\n"),
            ("sim/b.c", "    x = atan2f(a, b);\n"),
            ("sim/b.c", "    x = _mm_rsqrt_ps(a);\n"),
            ("sim/b.c", "    qsort(a, b, c, d);\n"),
            ("net/b.c", "    clock_gettime(a, b);\n"),
            ("server/room/room.c", '    fopen("a", "r");\n'),
        ]:
            self.expect("words", path, path, text)

    def test_a_word_in_prose_is_no_call(self):
        self.assertEqual([], rules.check_words(tree_with("sim/b.c", "// one round (or two)\n")))

    # The tree of the layout rules: two folders below the top of sim, one public header, one user.
    LAYOUT = {
        "docs/ARCHITECTURE.md": "| `sim/low/` | a | nothing |\n| `sim/high/` | b | low |\n| `sim/*` | c | all above |\n"
                                "\n## Offered headers\n\n`sim/low/a.h`\n",
        "include/cairn/world.h": 'extern "C" {\nvoid cairn_step(int a);\n}\n',
        "sim/low/a.h": "struct a { int x; };\nint cairn_a(void);\n",
        "sim/low/a.c": '#include "sim/low/a.h"\nint cairn_a(void) {\n}\n',
        "sim/high/b.c": '#include "sim/low/a.h"\nint cairn_b(void) {\n}\n',
        "sim/step.c": '#include <cairn/world.h>\nvoid cairn_step(int a) {\n}\n',
        "net/c.c": '#include "sim/low/a.h"\n',
        "tests/structure/retired.txt": "\\bcrew\t^sim/\ttask scheduler\n",
    }

    def expect_layout(self, rule, complaint, path, text):
        self.assertEqual([], layout.RULES[rule](self.LAYOUT), "the tree without the fault")
        complaints = layout.RULES[rule]({**self.LAYOUT, path: text})
        self.assertTrue(any(complaint in line for line in complaints), complaints)

    LAYOUT_FAULTS = {
        "a folder above": ("folders", "sim/low may not include sim/high/b.h", "sim/low/c.c", '#include "sim/high/b.h"\n'),
        "a folder without a row": ("folders", "sim/attic has no row", "sim/attic/c.c", "int a;\n"),
        "a cycle of files": ("cycles", "sim/high/b, sim/low/a", "sim/low/a.h", '#include "sim/high/b.h"\n'),
        "a private header seen from outside": ("private", "sim/high/b.h is private", "net/d.c", '#include "sim/high/b.h"\n'),
        "an offered header that is not there": ("private", "does not exist", "docs/ARCHITECTURE.md",
                                                "## Offered headers\n`sim/low/z.h`\n"),
        "a public header that includes a private one": ("public", "may not include", "include/cairn/b.h",
                                                        '#include "sim/low/a.h"\n'),
        "a public header of a library": ("public", "may not include", "include/cairn/b.h", "#include <uv/unix.h>\n"),
        "a public header without C linkage": ("public", 'no extern "C"', "include/cairn/b.h", "int cairn_b(void);\n"),
        "a struct defined twice": ("twice", "struct a is also", "net/d.h", "struct a { int y; };\n"),
        "a function defined twice": ("twice", "cairn_a() is also", "net/d.c", "int cairn_a(void) {\n}\n"),
        "a function for Windows alone": ("twice", "cairn_a() is also", "net/d_windows.c", "int cairn_a(void) {\n}\n"),
        "a function away from its header": ("nouns", "cairn_b lives in sim/high/b.c", "sim/low/a.h", "int cairn_b(void);\n"),
        "a retired term": ("retired", "'crew' is retired: task scheduler", "sim/d.c", "// the crew runs\n"),
        "a broken row of terms": ("retired", "not three columns", "tests/structure/retired.txt", "crew\n"),
    }

    def test_each_fault_of_layout_is_found(self):
        for name, fault in self.LAYOUT_FAULTS.items():
            with self.subTest(name):
                self.expect_layout(*fault)

    def test_a_public_header_of_two_modules(self):
        both = 'extern "C" {\nvoid cairn_step(int a);\nvoid cairn_d(int a);\n}\n'
        tree = {**self.LAYOUT, "net/d.c": "void cairn_d(int a) {\n}\n", "include/cairn/world.h": both}
        self.assertIn("live in net, sim", layout.check_nouns(tree)[0])

    def test_a_page_that_shows_another_program(self):
        page = "```c\nint a;\n```\n\n```ts\nlet a;\n```\n"
        tree = {"docs/ROLLBACK.md": page, "docs/example_rollback.c": "int a;\n",
                "npm/cairn-sim/examples/rollback.ts": "let b;\n"}
        self.assertEqual(1, len(rules.check_shown(tree)))
        tree["npm/cairn-sim/examples/rollback.ts"] = "let a;\n"
        self.assertEqual([], rules.check_shown(tree))
        self.assertTrue(rules.check_shown({**tree, "docs/ROLLBACK.md": "nothing\n"}))

    def test_a_readme_that_drifted(self):
        tree = tree_with(**{"docs/example_client.c": "int a;\n"})
        self.assertTrue(rules.check_readme(tree))
        tree["README.md"] = "```c\nint b;\n```\n"
        self.assertTrue(rules.check_readme(tree))
        tree["README.md"] = "```c\nint a;\n```\n"
        self.assertEqual([], rules.check_readme(tree))

    # A page of as many techniques as there must be, and what its last row names.
    GOOD_ROW = "| {} | a | C5 1 | `sim/a.c: cairn_a, b` | `sim.a: a falls`, `sim.all` | 3 mm | built |"

    def techniques_tree(self, last=None, rows=techniques.ROWS_MIN):
        page = [self.GOOD_ROW.format(number) for number in range(1, rows)] + [(last or self.GOOD_ROW).format(rows)]
        return {
            techniques.PAGE: "| 1 | another table |\n" + techniques.HEADING + "\n" + "\n".join(page) + "\n## Sources\n",
            "sim/a.c": "int cairn_a(void) {\n}\nstatic inline __attribute__((noinline)) int b(\n    int c) {\n}\n",
            "tests/sim/a_test.c": 'TEST("a falls") {\n}\n',
            "tests/sim/CMakeLists.txt": "cairn_test(NAME sim.a SOURCES a_test.c ROOMS sim)\nadd_test(NAME sim.all COMMAND $<X> --y)\n",
        }

    ROW_FAULTS = {
        "a file that is gone": ("sim/a.c", "sim/z.c", "sim/z.c does not exist"),
        "a function that is gone": ("cairn_a, b", "cairn_a, z", "has no function z"),
        "a function that is only called or declared": ("cairn_a, b", "cairn_a, falls", "has no function falls"),
        "a file without a function": ("sim/a.c: cairn_a, b", "sim/a.c", "has no function"),
        "a test that is gone": ("sim.all", "sim.z", "there is no test sim.z"),
        "a case that is gone": ("a falls", "a flies", "has no case 'a flies'"),
        "a case of a test without cases": ("`sim.all`", "`sim.all: a falls`", "has no case"),
        "no function": ("`sim/a.c: cairn_a, b`", "-", "names no function"),
        "no test": ("`sim.a: a falls`, `sim.all`", "-", "names no test"),
        "a figure without a number": ("3 mm", "small", "has no number"),
        "a state that is none": ("built", "nearly", "its state is neither"),
        "a cell too few": ("| a | C5", "| C5", "not seven cells"),
        "a number twice": ("| {} |", "| 71 |", "technique 71 is row 72"),
    }

    def test_each_fault_of_a_technique_is_found(self):
        self.assertEqual([], techniques.check_techniques(self.techniques_tree()))
        for name, (good, bad, complaint) in self.ROW_FAULTS.items():
            with self.subTest(name):
                row = self.GOOD_ROW.replace(good, bad)
                self.assertNotEqual(row, self.GOOD_ROW)
                complaints = techniques.check_techniques(self.techniques_tree(row))
                self.assertTrue(len(complaints) == 1 and complaint in complaints[0], complaints)

    def test_a_technique_that_is_not_built_needs_a_reason_and_nothing_else(self):
        row = "| {} | a | C5 1 | - | - | - | not: another does it |"
        self.assertEqual([], techniques.check_techniques(self.techniques_tree(row)))
        self.assertEqual(1, len(techniques.check_techniques(self.techniques_tree(row.replace("not:", "not")))))

    def test_a_technique_too_few(self):
        complaints = techniques.check_techniques(self.techniques_tree(rows=techniques.ROWS_MIN - 1))
        self.assertEqual(["docs/PHYSICS.md: 71 techniques, 72 are in the texts"], complaints)
        self.assertTrue(techniques.check_techniques({}))

    def test_a_link_that_leads_nowhere(self):
        good = "[a](../base/a.h) [b](../README.md#what-it-is) [c](../net)\n"
        tree = tree_with("docs/page.md", good, **{"README.md": "## What it is\n"})
        self.assertEqual([], rules.check_links(tree))
        for bad in ("../base/b.h", "../README.md#what-it-was", "nowhere.md"):
            self.assertEqual(1, len(rules.check_links({**tree, "docs/page.md": f"[a]({bad})\n"})), bad)

    def test_a_foreign_import(self):
        good = "libcairn_net.a:crypto.c.o:                 U crypto_aead_encrypt\n"
        bad = "libcairn_net.a:link.c.o:                 U "
        self.assertEqual([], rules.check_imports("net", good, set()))
        self.assertEqual([], rules.check_imports("net", bad + "cairn_read_u8", {"cairn_read_u8"}))
        for name in ("crypto_aead_encrypt", "clock_gettime", "malloc_trim", "cairn_world_step"):
            self.assertEqual(1, len(rules.check_imports("net", bad + name, set())), name)
        bad = "libcairn_schema.a:codec.cpp.o:     U _Znwm"
        self.assertEqual(1, len(rules.check_imports("schema", bad, set())))
        for room in rules.IMPORTS:
            listing = f"lib/libcairn_{room}.a:x.c.o:     w timespec_get"
            self.assertEqual(1, len(rules.check_imports(room, listing, set())))

    def test_a_program_that_lost_its_hardening(self):
        good = (" 0x6ffffffb (FLAGS_1) Flags: NOW PIE\n GNU_RELRO 0x1\n GNU_STACK 0x0 RW 0x10\n"
                " 1: 0 FUNC GLOBAL DEFAULT UND __stack_chk_fail@GLIBC\n 2: 0 FUNC GLOBAL DEFAULT UND __fprintf_chk@GLIBC\n")
        self.assertEqual([], hardened.check_program("p", good))
        for kept, lost in ((" PIE", ""), (" NOW", ""), ("GNU_RELRO", ""), (" RW ", " RWE "), ("__stack_chk_fail", "f"),
                           ("__fprintf_chk", "__puts_chk"), ("__stack_chk_fail", "__stack_chk_fail@G\n 3: UND fprintf")):
            self.assertEqual(1, len(hardened.check_program("p", good.replace(kept, lost))), kept)

    def test_a_library_with_an_object_that_lost_its_hardening(self):
        good = ("\nFile: l.a(a.o)\n x86 feature: IBT, SHSTK\n GNU C17 12.2.0 -O2 -fPIE -fstack-protector-strong"
                " -fstack-clash-protection\n")
        self.assertEqual([], hardened.check_library("l.a", good + good, "x86_64"))
        for kept in (" IBT, SHSTK", " -fPIE", " -fstack-protector-strong", " -fstack-clash-protection"):
            self.assertEqual(1, len(hardened.check_library("l.a", good + good.replace(kept, ""), "x86_64")), kept)

    def test_a_header_that_needs_another_first(self):
        with tempfile.TemporaryDirectory() as root:
            path = os.path.join(root, "a.h")
            for text, complaints in (("#include <stdint.h>\nuint8_t a;\n", 0), ("uint8_t a;\n", 1)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                self.assertEqual(complaints, len(check.check_alone(root, [COMPILER], ["a.h"])))

    def test_a_file_out_of_format(self):
        if not CLANG_FORMAT:
            self.skipTest("no formatter here")
        with tempfile.TemporaryDirectory() as root:
            path = os.path.join(root, "a.c")
            for text, complaints in (("int a;\n", 0), ("int   a ;\n", 2)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                self.assertEqual(complaints, len(check.check_format(root, CLANG_FORMAT)))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        COMPILER, CLANG_FORMAT = sys.argv[1:]
        del sys.argv[1:]
    unittest.main()
