"""Which backups are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.storages.pruning import prune_list, retention
from stockman_lab.pve.volume import Volume

from lab.tests.worlds import door

FIRST = datetime(2026, 1, 1, 12, tzinfo=UTC)


def with_backups(*moments: datetime) -> MemoryDoor:
    api = door()
    for moment in moments:
        name = f"backup/vzdump-qemu-100-{moment:%Y_%m_%d-%H_%M_%S}.vma"
        volume = Volume("local", "pve1", name, "backup", "vma", 1, 1, vmid=100)
        api.cluster.state.volumes[f"pve1/{volume.id}"] = volume
    return api


def kept(api: MemoryDoor, options: str) -> list[int]:
    """Which of the backups, oldest first, are kept."""
    state = api.cluster.state
    host = state.hosts["pve1"]
    entries = prune_list(api.cluster, state.storages["local"], host, retention(options))
    oldest_first = sorted(entries, key=lambda one: one.created_at)
    return [number for number, one in enumerate(oldest_first) if one.mark == "keep"]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ("keep-all=1", [0, 1, 2, 3, 4, 5]),
        ("keep-last=2", [4, 5]),
        ("keep-daily=2", [3, 5]),
        ("keep-last=1,keep-daily=1", [3, 5]),
        ("keep-last=0", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_two_backups_a_day_are_thinned_out(options: str, numbers: list[int]) -> None:
    api = with_backups(*(FIRST + timedelta(hours=12 * n - 12) for n in range(6)))

    assert kept(api, options) == numbers


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ("keep-hourly=2", [6, 7]),
        ("keep-weekly=2", [3, 7]),
        ("keep-monthly=2", [7]),
        ("keep-yearly=1", [7]),
        ("keep-last=1,keep-weekly=1", [3, 7]),
    ],
)
def test_a_backup_a_day_is_thinned_out_by_longer_spans(options: str, numbers: list[int]) -> None:
    api = with_backups(*(FIRST + timedelta(days=n) for n in range(8)))

    assert kept(api, options) == numbers


def test_renamed_and_protected_backups_stay() -> None:
    api = with_backups(FIRST, FIRST + timedelta(hours=1))
    renamed = Volume("local", "pve1", "backup/vzdump-qemu-100-mine.vma", "backup", "vma", 1, 1)
    api.cluster.state.volumes[f"pve1/{renamed.id}"] = renamed
    first = next(iter(api.cluster.state.volumes.values()))
    first.protected = True

    state = api.cluster.state
    entries = prune_list(
        api.cluster, state.storages["local"], state.hosts["pve1"], {"keep-last": 1}
    )

    assert {entry.volid: entry.mark for entry in entries} == {
        first.id: "protected",
        renamed.id: "renamed",
        "local:backup/vzdump-qemu-100-2026_01_01-13_00_00.vma": "keep",
    }
