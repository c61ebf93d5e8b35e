# SPDX-License-Identifier: MIT
"""The public headers as data: constants, enums, structs with their layouts, functions.

Bindings are made from this, so that none repeats a field or a number by hand. The layouts follow from the C ABI's natural
alignment, which every supported target shares but for the size of pointers; `check_source` is C code that proves it for
the target that compiles it."""

import os
import re
import subprocess
import tempfile
from collections import namedtuple

from pycparser import c_ast, c_generator, c_parser

# kind: "scalar" (name: u8 .. f64, bool, char), "enum", "struct", "pointer" (to: a Type or None for void) or "function".
Type = namedtuple("Type", "kind name to count const", defaults=(None, 0, False))
Field = namedtuple("Field", "name type offset")
Struct = namedtuple("Struct", "name fields size align")
Function = namedtuple("Function", "name returns parameters")  # parameters: [(name, Type)]
Model = namedtuple("Model", "constants enums structs opaque functions variables")

SCALARS = {"uint8_t": ("u8", 1), "int8_t": ("i8", 1), "uint16_t": ("u16", 2), "int16_t": ("i16", 2),
           "uint32_t": ("u32", 4), "int32_t": ("i32", 4), "uint64_t": ("u64", 8), "int64_t": ("i64", 8),
           "float": ("f32", 4), "double": ("f64", 8), "_Bool": ("bool", 1), "char": ("char", 1),
           "int": ("i32", 4), "unsigned int": ("u32", 4), "size_t": ("size", 0)}
SIZES = {name: size for name, size in SCALARS.values()}

STANDARD = {
    "stdbool.h": "#define bool _Bool\n",
    "stddef.h": "typedef unsigned long size_t;\n#define NULL ((void *)0)\n",
    "stdint.h": "".join(f"typedef {kind} {name};\n" for name, kind in (
        ("uint8_t", "unsigned char"), ("int8_t", "signed char"), ("uint16_t", "unsigned short"), ("int16_t", "short"),
        ("uint32_t", "unsigned"), ("int32_t", "int"), ("uint64_t", "unsigned long long"), ("int64_t", "long long")))
    + "#define UINT64_C(c) c\n#define UINT32_MAX 0xffffffff\n#define UINT64_MAX 0xffffffffffffffff\n",
}


def preprocess(compiler, include, headers, *flags):
    with tempfile.TemporaryDirectory() as fake:
        for name, text in STANDARD.items():
            with open(os.path.join(fake, name), "w", encoding="utf-8") as file:
                file.write(text)
        source = "".join(f"#include <cairn/{header}.h>\n" for header in headers)
        return subprocess.run([compiler, "-E", "-P", "-nostdinc", "-x", "c", "-I", include, "-I", fake, *flags, "-"],
                              input=source, capture_output=True, text=True, check=True).stdout


class Reader:
    def __init__(self, pointer_size):
        self.pointer_size = pointer_size
        self.enums, self.structs, self.opaque = {}, {}, set()
        self.values = {}
        self.functions, self.variables = [], []

    def value(self, node):
        text = re.sub(r"\b(0x[0-9a-f]+|\d+)[uU]?[lL]*\b", r"\1", c_generator.CGenerator().visit(node))
        return eval(text, {"__builtins__": {}}, self.values)  # pylint: disable=eval-used

    def type_of(self, node, const=False):
        if isinstance(node, c_ast.ArrayDecl):
            inner = self.type_of(node.type)
            return inner._replace(count=self.value(node.dim) * max(1, inner.count))
        if isinstance(node, c_ast.PtrDecl):
            if isinstance(node.type, c_ast.FuncDecl):
                return Type("function", "")
            to = self.type_of(node.type)
            return Type("pointer", "", to if to.name != "void" else None)
        assert isinstance(node, c_ast.TypeDecl), node
        const = "const" in node.quals
        inner = node.type
        if isinstance(inner, c_ast.Struct):
            return Type("struct", inner.name, const=const)
        if isinstance(inner, c_ast.Enum):
            return Type("enum", inner.name or "", const=const)
        name = " ".join(inner.names)
        if name == "void":
            return Type("void", "void", const=const)
        if name in SCALARS:
            return Type("scalar", SCALARS[name][0], const=const)
        if name in self.enums:
            return Type("enum", name, const=const)
        if name.endswith("_id") and name.startswith("cairn_"):
            return Type("scalar", "u32", const=const)
        return Type("struct", name, const=const)

    def size_align(self, type_):
        if type_.kind == "scalar":
            size = SIZES[type_.name] or self.pointer_size
            align = size
        elif type_.kind == "enum":
            size = align = 4
        elif type_.kind in ("pointer", "function"):
            size = align = self.pointer_size
        else:
            size, align = self.structs[type_.name].size, self.structs[type_.name].align
        return size * max(1, type_.count), align

    def add_struct(self, name, declarations):
        fields, at, align = [], 0, 1
        for declaration in declarations:
            type_ = self.type_of(declaration.type)
            size, alignment = self.size_align(type_)
            at = -(-at // alignment) * alignment
            fields.append(Field(declaration.name, type_, at))
            at, align = at + size, max(align, alignment)
        self.structs[name] = Struct(name, fields, -(-at // align) * align, align)

    def add_enum(self, name, enum):
        members, following = [], 0
        for member in enum.values.enumerators:
            following = self.value(member.value) if member.value is not None else following
            members.append((member.name, following))
            self.values[member.name] = following
            following += 1
        self.enums[name or f"anonymous_{len(self.enums)}"] = members

    def add_function(self, name, node):
        parameters = []
        for parameter in node.args.params if node.args else []:
            type_ = parameter.type
            if isinstance(type_, c_ast.TypeDecl) and getattr(type_.type, "names", None) == ["void"]:
                continue
            if isinstance(type_, c_ast.ArrayDecl):  # a parameter written as an array is a pointer
                type_ = c_ast.PtrDecl([], type_.type)
            parameters.append((parameter.name, self.type_of(type_)))
        self.functions.append(Function(name, self.type_of(node.type), parameters))

    def read(self, tree):
        for node in tree.ext:
            if isinstance(node, c_ast.Typedef):
                inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
                if isinstance(inner, c_ast.Enum) and inner.values:
                    self.add_enum(node.name, inner)
                elif isinstance(inner, c_ast.Struct) and inner.decls:
                    self.add_struct(node.name, inner.decls)
                elif isinstance(inner, c_ast.Struct):
                    self.opaque.add(node.name)
            elif isinstance(node, c_ast.Decl):
                if isinstance(node.type, c_ast.Enum) and node.type.values:
                    self.add_enum(node.type.name, node.type)
                elif isinstance(node.type, c_ast.FuncDecl) and node.name.startswith("cairn_"):
                    self.add_function(node.name, node.type)
                elif node.name and "extern" in node.storage:
                    self.variables.append((node.name, self.type_of(node.type)))


def constants_of(text, values):
    """Macros that are a number or a text."""
    defined = dict(re.findall(r"^#define (CAIRN_\w+) (.+)$", text, re.M))
    constants = {}
    for name, words in defined.items():
        for _ in range(8):  # macros that name macros
            words = re.sub(r"\bCAIRN_\w+\b", lambda m: defined.get(m.group(0), m.group(0)), words)
        words = re.sub(r"\bUINT64_C\((\d+)\)", r"\1", words)
        words = re.sub(r"UINT32_MAX", "0xffffffff", re.sub(r"UINT64_MAX", "0xffffffffffffffff", words))
        words = re.sub(r"\b(0x[0-9a-f]+|\d+)[uU][lL]*\b", r"\1", words)
        words = re.sub(r"(?<![\w.])(\d[\d.]*(?:e-?\d+)?)f\b", r"\1", words)
        try:
            constants[name] = eval(words, {"__builtins__": {}}, values)  # pylint: disable=eval-used
        except (SyntaxError, NameError, TypeError):
            continue
    return constants


def read(compiler, include, headers, pointer_size):
    reader = Reader(pointer_size)
    reader.read(c_parser.CParser().parse(preprocess(compiler, include, headers)))
    macros = preprocess(compiler, include, headers, "-dM")
    return Model(constants_of(macros, reader.values), reader.enums, reader.structs,
                 reader.opaque - set(reader.structs), reader.functions, reader.variables)


def check_source(model, headers):
    """C code that compiles only where every struct has the layout that the bindings were made with."""
    lines = ["// Generated by tools/bindings from the public headers.", "#include <stddef.h>", ""]
    lines += [f"#include <cairn/{header}.h>" for header in headers] + [""]
    for struct in model.structs.values():
        lines.append(f'_Static_assert(sizeof({struct.name}) == {struct.size}, "{struct.name}");')
        for field in struct.fields:
            lines.append(f'_Static_assert(offsetof({struct.name}, {field.name}) == {field.offset}, '
                         f'"{struct.name}.{field.name}");')
    return "\n".join(lines) + "\n"
