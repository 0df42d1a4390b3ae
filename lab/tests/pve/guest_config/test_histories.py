"""What holds after any history of changes, starts and stops."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.drive import Drive, is_drive, is_unused, parse_drive
from stockman_lab.pve.formats.sizes import new_disk_bytes
from stockman_lab.pve.guest_config.change import read_machine_change
from stockman_lab.pve.guest_config.context import GuestContext
from stockman_lab.pve.guest_config.state import GuestConfig, machine_digest
from stockman_lab.pve.guest_config.update import apply_pending, plan_update
from stockman_lab.pve.guest_config.views import pending_machine_rows, shown_machine

from lab.tests.pve.guest_config.guests import STOPPED, owned

SETS: dict[str, list[str]] = {
    "cores": ["1", "2"],
    "memory": ["1024", "2048"],
    "name": ["a", "b"],
    "protection": ["0", "1"],
    "net0": ["virtio=BC:24:11:00:00:01,bridge=vmbr0", "e1000=BC:24:11:00:00:01,bridge=vmbr0"],
    "scsi0": ["local-lvm:1", "local-lvm:2,ssd=1", "none,media=cdrom"],
    "scsi1": ["local-lvm:1", "local-lvm:vm-9999-pvc-1"],
    "ide2": ["none,media=cdrom", "local:iso/a.iso,media=cdrom", "local-lvm:cloudinit"],
    "boot": ["order=scsi0", "order=scsi0;net0", "cdn"],
    "hotplug": ["0", "1", "disk"],
}
KEYS = st.sampled_from([*SETS, "unused0", "unused1"])
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        **{key: st.sampled_from(values) for key, values in SETS.items()},
        "delete": st.lists(KEYS, max_size=2).map(",".join),
        "revert": st.sampled_from(["scsi0", "cores", "ide2", ""]),
        "force": st.sampled_from(["0", "1"]),
    },
)
HISTORIES = st.lists(st.tuples(CHANGES, st.booleans()), max_size=6)


class Pool:
    """A storage that counts its volumes."""

    def __init__(self) -> None:
        self.volumes: set[str] = set()
        self._numbers = count()

    def made(self, drive: Drive) -> Drive:
        """A drive with a volume of its own."""
        if drive.new_cloud_init:
            drive.file, drive.options["media"] = "local-lvm:vm-100-cloudinit", "cdrom"
        elif drive.new_disk:
            drive.size = new_disk_bytes(drive.new_disk[1])
            drive.file = f"local-lvm:vm-100-disk-{next(self._numbers)}"
            self.volumes.add(drive.file)
        return drive

    def around(self, *, running: bool) -> GuestContext:
        """The world of a guest with this storage."""
        return replace(STOPPED, running=running, made=self.made)


def held(config: GuestConfig) -> set[str]:
    """Owned disks that a configuration names."""
    sections = (config.values, config.pending)
    named = {
        parse_drive(key, value).file
        for section in sections
        for key, value in section.items()
        if is_drive(key) or is_unused(key)
    }
    return {volume for volume in named if owned(volume) and "disk" in volume}


def lived(history: list[tuple[dict[str, str], bool]], pool: Pool) -> GuestConfig:
    """A machine after a history; changes that are refused leave what was written until then."""
    config = GuestConfig()
    for parameters, running in history:
        try:
            change = read_machine_change(parameters)
            outcome = plan_update(config, change, pool.around(running=running))
        except ApiError:
            continue
        assert not set(outcome.freed) & held(config)
        pool.volumes -= set(outcome.freed)
    return config


@given(HISTORIES)
def test_nothing_waits_that_would_change_nothing(
    history: list[tuple[dict[str, str], bool]],
) -> None:
    config = lived(history, Pool())

    same = {key for key, value in config.pending.items() if config.values.get(key) == value}
    assert not same


@given(HISTORIES)
def test_a_stopped_machine_waits_for_nothing_in_the_end(
    history: list[tuple[dict[str, str], bool]],
) -> None:
    pool = Pool()
    config = lived(history, pool)
    before = shown_machine(config)

    outcome = apply_pending(config, pool.around(running=False))

    assert not config.has_pending or outcome.errors
    after = shown_machine(config)
    kept = {key for key in before if not is_unused(key) and key != "digest"}
    assert {key: after.get(key) for key in kept} == {key: before[key] for key in kept}


@given(HISTORIES)
def test_no_volume_is_named_that_was_never_made_or_is_destroyed(
    history: list[tuple[dict[str, str], bool]],
) -> None:
    pool = Pool()
    config = lived(history, pool)

    assert held(config) <= pool.volumes


@given(HISTORIES)
def test_a_volume_is_not_unused_and_used_at_once(
    history: list[tuple[dict[str, str], bool]],
) -> None:
    config = lived(history, Pool())

    used = {parse_drive(key, text).file for key, text in config.values.items() if is_drive(key)}
    unused = [text for key, text in config.values.items() if is_unused(key)]
    assert not used & set(unused)
    assert len(set(unused)) == len(unused)


@given(HISTORIES)
def test_the_same_history_gives_the_same_file(
    history: list[tuple[dict[str, str], bool]],
) -> None:
    first, second = lived(history, Pool()), lived(history, Pool())

    assert machine_digest(first) == machine_digest(second)
    assert pending_machine_rows(first) == pending_machine_rows(second)
