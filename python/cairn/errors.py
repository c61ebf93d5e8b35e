# SPDX-License-Identifier: MIT
"""The exceptions of the package. Each is a CairnError and the built-in exception that it resembles."""

from __future__ import annotations

from typing import Any


class CairnError(Exception):
    """Base of all exceptions that only this package raises."""


class InvalidArgument(CairnError, ValueError):
    """A value is outside the range that the headers state. Nothing was changed."""


class NonFinite(CairnError, ValueError):
    """A number is NaN or infinite. Nothing was changed."""


class OutOfMemory(CairnError, MemoryError):
    """The world could not be allocated: lower its capacities."""


class CapacityReached(CairnError):
    """A capacity of the scene (body_capacity and others) is used up. Nothing was changed."""


class NotFound(CairnError, LookupError):
    """There is no body, shape, joint, scene or rules of this id or name."""


class Malformed(CairnError, ValueError):
    """Bytes or a scene do not follow their format."""


class VersionMismatch(CairnError, ValueError):
    """Bytes were written by another version of the simulation."""


class WrongState(CairnError, RuntimeError):
    """The object is not in the state that this call needs."""


class Closed(CairnError, RuntimeError):
    """The world, client or environment was closed."""


class Refused(CairnError):
    """A server refused a request: `verb`, the kind of the `refusal`, and the `reason`, a sentence."""

    def __init__(self, verb: str, refusal: str, reason: str) -> None:
        super().__init__(f"{verb}: {refusal}: {reason}")
        self.verb, self.refusal, self.reason = verb, refusal, reason


class NoAnswer(CairnError, TimeoutError):
    """A server cannot be reached, has ended, or did not answer in time."""


_OF_STATUS = (
    InvalidArgument, NonFinite, OutOfMemory, CapacityReached, NotFound, WrongState, Malformed, VersionMismatch, WrongState,
    WrongState, CairnError,
)  # cairn_status, from 1 on


def check(status: int, what: Any, reason: str = "") -> None:
    """Raises the exception of a cairn_status that is not CAIRN_OK."""
    if status != 0:
        from ._native import ffi, lib

        text = reason or ffi.string(lib.cairn_status_text(status)).decode()
        raise _OF_STATUS[status - 1](f"{what}: {text}")
