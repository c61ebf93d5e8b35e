# SPDX-License-Identifier: MIT
"""cairn in Python.

World is the simulation in this process. Env and VectorEnv put it into the shape of Gymnasium. serve
starts a server for as long as a block runs; Client asks a server, as an operator, for any verb of
docs/PROTOCOL.md, Control; Room is a room of it with the methods of World. docs/RL.md and
docs/HARNESS.md have examples."""

from ._native import ffi as _ffi, lib as _lib
from .articulation import Articulation
from .client import Client
from .control import Answer
from .env import Env, VectorEnv
from .errors import (
    CairnError, CapacityReached, Closed, InvalidArgument, Malformed, NoAnswer, NonFinite, NotFound, OutOfMemory, Refused,
    VersionMismatch, WrongState,
)
from .robot import Robot
from .room import Room
from .rules import load_rules
from .server import Server, ServerFailed, serve
from .shape import Shape
from .world import DYNAMIC, HIT_EVENTS, KINEMATIC, SENSOR, STATIC, World, scenes

__version__: str = _ffi.string(_lib.cairn_version_text()).decode()

__all__ = [
    "Answer", "Articulation", "CairnError", "CapacityReached", "Client", "Closed", "DYNAMIC", "Env", "HIT_EVENTS", "InvalidArgument",
    "KINEMATIC", "Malformed", "NoAnswer", "NonFinite", "NotFound", "OutOfMemory", "Refused", "Robot", "Room", "SENSOR",
    "STATIC", "Server", "ServerFailed", "Shape", "VectorEnv", "VersionMismatch", "World", "WrongState", "load_rules", "scenes", "serve",
]
