# SPDX-License-Identifier: MIT
"""Controls cairn servers from Python: an operator's client, and an environment for learning.

Client asks a server for any verb of docs/PROTOCOL.md, Control. Env puts reset and step around it,
with info["hash"] to prove which world an observation belongs to. Both need the shared library
libcairn_client.so, the Python package flatbuffers (Debian: python3-flatbuffers), a connect token
with the operator's right (cairn-token issue --operator), and a server that was started with
--control."""

from .client import Client, NoAnswer, Refused
from .env import Env
from .library import load_rules
from .messages import Answer

__all__ = ["Answer", "Client", "Env", "NoAnswer", "Refused", "load_rules"]
