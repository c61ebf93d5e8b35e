# SPDX-License-Identifier: MIT
"""C structs as numpy types and Python values. Layouts come from the headers, by cffi."""

from __future__ import annotations

import math
import operator
import types
from typing import Any, Sequence

import numpy

from ._native import ffi, lib

_FLOAT_MAX = 3.4028234663852886e38
_NUMBERS = {"float": "f4", "double": "f8", "_Bool": "?", "int": "i4"}
_NUMBERS.update({f"{sign}int{8 * size}_t": f"{sign or 'i'}{size}" for sign in ("u", "") for size in (1, 2, 4, 8)})


def _components(ctype: Any) -> int:
    """How many floats a struct of floats alone has, such as cairn_vec3; else 0."""
    fields = ctype.fields
    return len(fields) if all(field.type.cname == "float" for _, field in fields) else 0


def dtype_of(ctype: Any) -> numpy.dtype:
    """The numpy type of a C type that holds no pointers. Vectors become small arrays: position has
    the shape (3,), rotation (4,)."""
    ctype = ffi.typeof(ctype) if isinstance(ctype, str) else ctype
    if ctype.kind == "array":
        return numpy.dtype((dtype_of(ctype.item), (ctype.length,)))
    if ctype.kind != "struct":
        name = ctype.cname.removeprefix("cairn_") if ctype.kind == "primitive" else "uint32_t"
        return numpy.dtype(_NUMBERS[name])
    if components := _components(ctype):
        return numpy.dtype(("f4", (components,)))
    fields = ctype.fields
    return numpy.dtype({
        "names": [name for name, _ in fields],
        "formats": [dtype_of(field.type) for _, field in fields],
        "offsets": [field.offset for _, field in fields],
        "itemsize": ffi.sizeof(ctype),
    })


def real(where: str, value: Any) -> float:
    """A finite number in the range of a C float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{where} must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{where} is not finite: {number}")
    if abs(number) > _FLOAT_MAX:
        raise ValueError(f"{where} is beyond single precision: {number}")
    return number


def vector(where: str, value: Any, size: int = 3) -> tuple[float, ...]:
    """`size` finite numbers."""
    try:
        numbers = tuple(value)
    except TypeError:
        numbers = ()
    if len(numbers) != size or isinstance(value, (str, bytes)):
        raise TypeError(f"{where} must be {'three' if size == 3 else size} numbers, not {value!r}")
    return tuple(real(where, number) for number in numbers)


def input_words(fields: Any, numbers: Sequence[Any]) -> Any:
    """The words of an input that rules declare: `fields` is an array of cairn_input_field."""
    words = ffi.new("uint32_t[]", max(1, len(numbers)))
    floats = ffi.cast("float *", words)
    for i, number in enumerate(numbers):
        if fields[i].kind == lib.CAIRN_INPUT_BITS:
            words[i] = whole("a field of bits", number)
        else:
            floats[i] = number
    return words


def whole(where: str, value: Any, bits: int = 32) -> int:
    """An integer that an unsigned C type of so many bits holds."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{where} must be an int, not {type(value).__name__}") from None
    if number < 0:
        raise ValueError(f"{where} is negative: {number}")
    if number >= 1 << bits:
        raise ValueError(f"{where} does not fit {bits} bits: {number}")
    return number


def text(where: str, value: Any) -> bytes:
    """Printable ASCII."""
    if not isinstance(value, str):
        raise TypeError(f"{where} must be a str, not {type(value).__name__}")
    if not all(" " <= letter <= "~" for letter in value):
        raise ValueError(f"{where} must be printable ASCII: {value!r}")
    return value.encode("ascii")


def assign(struct: Any, name: str, ctype: Any, where: str, value: Any, keep: list[Any]) -> None:
    """Sets a field of a C struct after checks. `keep` holds what the struct points to."""
    if ctype.kind == "struct":
        setattr(struct, name, vector(where, value, _components(ctype)))
    elif ctype.cname == "_Bool":
        setattr(struct, name, bool(value))
    elif ctype.cname == "float":
        setattr(struct, name, real(where, value))
    elif ctype.cname == "char *":
        keep.append(ffi.new("char[]", text(where, value)))
        setattr(struct, name, keep[-1])
    else:
        setattr(struct, name, whole(where, value, 8 * ffi.sizeof(ctype)))


def fill(struct: Any, values: dict[str, Any], what: str, names: dict[str, Any] | None = None) -> None:
    """Sets fields of a C struct by name. A name that it does not have is a TypeError."""
    fields = dict(ffi.typeof(struct).item.fields)
    for name, value in values.items():
        if name not in fields:
            raise TypeError(f"{what} has no field {name!r}; its fields: {', '.join(fields)}")
        if names and name in names and isinstance(value, str):
            if value not in names[name]:
                raise ValueError(f"{what}: {name} must be one of {', '.join(names[name])}, not {value!r}")
            value = names[name][value]
        assign(struct, name, fields[name].type, f"{what}: {name}", value, [])


def plain(value: Any) -> Any:
    """A C struct as Python values: vectors are tuples, hashes and names texts, other structs
    namespaces. A pointer with a count after it becomes a list, or bytes."""
    if not isinstance(value, ffi.CData):
        return value
    ctype = ffi.typeof(value)
    if ctype.kind == "array" and ctype.item.cname == "char":
        return ffi.string(value).decode("ascii")
    if ctype.kind == "array":
        return [plain(element) for element in value]
    if ctype.kind == "pointer":
        return ffi.string(value).decode("ascii") if value != ffi.NULL else ""
    if ctype.cname == "struct cairn_hash128":
        return f"{value.hi:016x}{value.lo:016x}"
    if _components(ctype):
        return tuple(getattr(value, name) for name, _ in ctype.fields)
    return types.SimpleNamespace(**fields_of(value, ctype))


def fields_of(struct: Any, ctype: Any) -> dict[str, Any]:
    """The fields of a C struct as Python values."""
    found: dict[str, Any] = {}
    names = [name for name, _ in ctype.fields]
    for i, (name, field) in enumerate(ctype.fields):
        value = getattr(struct, name)
        if field.type.kind != "pointer" or field.type.item.cname == "char":
            found[name] = plain(value)
            continue
        count = getattr(struct, names[i + 1])
        item = field.type.item
        if item.kind == "primitive" and ffi.sizeof(item) == 1:
            found[name] = bytes(ffi.buffer(value, count)) if count else b""
        elif item.kind == "primitive":
            size = count * ffi.sizeof(item)
            found[name] = numpy.frombuffer(bytes(ffi.buffer(value, size)) if size else b"", dtype=dtype_of(item))
        else:
            found[name] = [plain(value[k]) for k in range(count)]
    counts = {names[i + 1] for i, (_, field) in enumerate(ctype.fields)
              if field.type.kind == "pointer" and field.type.item.cname != "char"}
    return {name: value for name, value in found.items() if name not in counts}
