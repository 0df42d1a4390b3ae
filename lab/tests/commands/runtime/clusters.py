"""Labs with a Talos cluster, made once for each process that runs tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.testing.plugin import ClusterOptions, StagedWorlds
from stockman_lab.world.file import world_file

from lab.tests.commands.runtime.test_serve import DOORS, NETWORKS, running_lab, wanted

NETWORK = next(NETWORKS)


@cache
def _state() -> bytes:
    worlds = StagedWorlds(DOORS.clock.now())
    staged_wish = ClusterOptions(
        preset="single", network=NETWORK, talos="1.13.9", pve="9.1", seed=1
    )
    return world_file(worlds.copy(staged_wish).state)


@contextmanager
def running_cluster(tmp_path: Path) -> Iterator[LabFiles]:
    """A lab with one Talos machine, `talos-1`, that runs until the end of the block."""
    files = LabFiles(state=tmp_path / "lab.state")
    files.state.write_bytes(_state())
    with running_lab(files, wanted(NETWORK)):
        yield files
