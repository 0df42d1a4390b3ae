"""Numbers that belong to machines."""

from __future__ import annotations

from stockman_lab.talos.figures import steady

from lab.tests.talos.staged import staged


def test_the_same_name_gives_the_same_number() -> None:
    world = staged("three-node")
    first, second = world.talos.machines[:2]
    assert steady.share(first, "x") == steady.share(first, "x")
    assert steady.share(first, "x") != steady.share(first, "y")
    assert steady.share(first, "x") != steady.share(second, "x")
    assert steady.uuid(first, "x")[14] == "4"
    assert all(10 <= steady.whole(first, str(name), 10, 13) < 13 for name in range(50))


def test_a_wave_comes_back() -> None:
    world = staged()
    node = world.talos.machines[0]
    before = steady.wave(node, "x", 60.0)
    world.advance(30.0)
    assert abs(steady.wave(node, "x", 60.0) + before) < 1e-3
    world.advance(30.0)
    assert abs(steady.wave(node, "x", 60.0) - before) < 1e-3
