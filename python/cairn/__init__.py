# SPDX-License-Identifier: MIT
"""A harness in Python for cairn servers: an operator's client, and an environment to learn in.

Client asks a server for whatever docs/PROTOCOL.md's table of control verbs has. Env is the usual
reset and step around it, with info["hash"] to prove which world an observation is of. Both need the
shared library libcairn_client.so and a connect token with the operator's right
(cairn-token issue --operator), and a server that was started with --control."""

from .client import Answer, Client, NoAnswer, Refused
from .env import Env

__all__ = ["Answer", "Client", "Env", "NoAnswer", "Refused"]
