# SPDX-License-Identifier: MIT
"""A game's rules in a shared object."""

from __future__ import annotations

import os

from ._native import ffi, lib
from .errors import Malformed


def load_rules(path: str | os.PathLike[str]) -> None:
    """Loads a rules file (<cairn/rules_file.h>). Scenes and World(rules=...) then find its rules by
    their names. Malformed says why not. A rules file is code: load only files that you
    trust, and before the first world exists."""
    error = ffi.new("char[]", lib.CAIRN_RULES_FILE_ERROR_SIZE)
    if not lib.cairn_rules_load(os.fsencode(path), error):
        raise Malformed(ffi.string(error).decode(errors="replace"))
