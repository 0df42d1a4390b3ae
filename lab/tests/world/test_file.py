"""A world is kept in one file, and comes back the same."""

from __future__ import annotations

import pytest
from stockman_lab.core.saved import Unreadable
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.worlds import door, small_world


def test_a_world_comes_back_the_same() -> None:
    world = small_world()
    door(world).post("/access/users", userid="ada@pve", password="secret12")
    content = world_file(world.state)
    assert world_file(read_world(content)) == content
    again = door(World(read_world(content)))
    assert again.get("/access/users/ada@pve") == door(world).get("/access/users/ada@pve")


def test_the_same_world_gives_the_same_bytes() -> None:
    assert world_file(small_world().state) == world_file(small_world().state)


def test_blobs_are_kept() -> None:
    world = small_world()
    name = world.state.blobs.put(b"wool" * 1000)
    world.state.blobs.hold(name)
    again = read_world(world_file(world.state))
    assert again.blobs.get(name) == b"wool" * 1000


@pytest.mark.parametrize("cut", [0, 1, 10, 100, 1000])
def test_a_damaged_file_is_refused(cut: int) -> None:
    content = world_file(small_world().state)
    with pytest.raises(Unreadable):
        read_world(content[: len(content) - cut - 1] if cut else b"")


def test_a_file_of_another_version_is_refused() -> None:
    world = small_world()
    world.state.version = 99
    with pytest.raises(Unreadable, match="version is 99"):
        read_world(world_file(world.state))
