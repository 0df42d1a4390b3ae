"""Downloads of a world that was loaded again."""

from __future__ import annotations

from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.storages.fetches import interrupted
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.outside import Shelf, world_with
from lab.tests.worlds import NAME

URL = "http://127.0.0.1/a.iso"


def started(api: MemoryDoor) -> str:
    return str(
        api.post("/nodes/pve1/storage/local/download-url", content="iso", filename="a.iso", url=URL)
    )


def test_a_download_whose_content_came_goes_on() -> None:
    shelf = Shelf({URL: b"content" * 1000})
    api = MemoryDoor(world_with(shelf), NAME)
    upid = started(api)

    loaded = World(read_world(world_file(api.world.state)), shelf)
    interrupted(loaded.clusters[NAME])
    loaded.settle()

    assert loaded.clusters[NAME].state.tasks[upid].exit_status == "OK"
    assert len(loaded.clusters[NAME].state.volumes) == 1
