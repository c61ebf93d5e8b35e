# SPDX-License-Identifier: MIT
"""cairn-replay shrink: the figure of docs/REPLAYS.md, a fault in a world of 1,000 bodies and 10,000 ticks."""

import conftest
from test_shrink import FALLS, record, shrink, thrown_through


def test_a_thousand_bodies_and_ten_thousand_ticks(kit, monkeypatch):
    monkeypatch.setattr(conftest, "TIMEOUT_S", 280)
    record(kit, *thrown_through(997, 10000), "--awake")
    answer = shrink(kit, "--predicate", FALLS, "--start", "body 3 y > body 2 y", "--workers", 2)
    assert answer["bodies"] <= 5 and answer["took_s"] < 600 and answer["minimal"]
    print(answer)
