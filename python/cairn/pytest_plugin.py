# SPDX-License-Identifier: MIT
"""Fixtures for pytest. Use them with `pytest -p cairn.pytest_plugin`, or pytest_plugins = ["cairn.pytest_plugin"] in
conftest.py; a wheel registers them by itself.

    def test_a_box_falls(cairn_world):
        world = cairn_world("empty")

    @pytest.mark.cairn(scene="stack10")
    def test_a_room(cairn_client):
        cairn_client.ask("pause")
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import pytest

from .client import Client
from .server import Server
from .world import World


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cairn(scene, **options): the scene and options of the fixture cairn_server")


@pytest.fixture
def cairn_world() -> Iterator[Callable[..., World]]:
    """Makes worlds, which are closed after the test: cairn_world("stack10", seed=7)."""
    worlds: list[World] = []

    def make(*arguments: Any, **options: Any) -> World:
        worlds.append(World(*arguments, **options))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


@pytest.fixture
def cairn_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server for the test, with the scene and options of its marker `cairn`."""
    marker = request.node.get_closest_marker("cairn")
    arguments, options = (marker.args, marker.kwargs) if marker is not None else ((), {})
    with Server(*arguments, **options) as server:
        yield server


@pytest.fixture
def cairn_client(cairn_server: Server) -> Client:
    """An operator's client of cairn_server."""
    return cairn_server.connect()
