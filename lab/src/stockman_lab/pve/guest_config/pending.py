"""The section of waiting changes, and volumes that nothing uses any more."""

from __future__ import annotations

from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.drive import DRIVES, UNUSED, Drive, readable_drive
from stockman_lab.pve.guest_config.context import GuestContext, Outcome
from stockman_lab.pve.guest_config.state import GuestConfig


def forget_unchanged(config: GuestConfig) -> None:
    """Drops waiting changes that would change nothing."""
    for key in [key for key, value in config.pending.items() if config.values.get(key) == value]:
        del config.pending[key]
    for key in [key for key in config.pending_delete if key not in config.values]:
        del config.pending_delete[key]


def add_unused(config: GuestConfig, volume: str) -> str:
    """The lowest free `unusedN` that now holds a volume; nothing if one did already."""
    if any(config.values.get(key) == volume for key in UNUSED):
        return ""
    key = next((key for key in UNUSED if not config.values.get(key)), "")
    if not key:
        raise die("Too many unused volumes - please delete them first.")
    config.values[key] = volume
    return key


def forget_reused(config: GuestConfig) -> None:
    """Drops `unusedN` of volumes that a drive holds again, now or later."""
    used = {drive.file for drive in (*_drives(config.values), *_drives(config.pending))}
    for key in UNUSED:
        if config.values.get(key, "") in used:
            del config.values[key]


def is_volume_used(config: GuestConfig, volume: str, but: str = "") -> bool:
    """Whether a disk of the guest or of a snapshot holds a volume; the key `but` aside."""
    values = {key: value for key, value in config.values.items() if key != but}
    return any(
        drive.file == volume and not drive.is_cdrom
        for section in (values, *config.snapshots.values())
        for drive in _drives(section)
    )


def _drives(section: dict[str, str]) -> list[Drive]:
    drives = (readable_drive(key, section[key]) for key in DRIVES if key in section)
    return [drive for drive in drives if drive]


def detach(config: GuestConfig, drive: Drive, context: GuestContext, outcome: Outcome) -> None:
    """Keeps an owned disk as `unusedN`, destroys a cloud-init drive, forgets all else."""
    if drive.is_cloud_init:
        outcome.freed.append(drive.file)
        config.cloud_init.clear()
    elif not drive.is_cdrom and drive.volume and context.owns(drive.volume):
        key = add_unused(config, drive.volume)
        if key:
            outcome.unused[key] = drive.volume


def destroy(config: GuestConfig, drive: Drive, context: GuestContext, outcome: Outcome) -> None:
    """Destroys an owned disk; refuses one that something else still needs."""
    if drive.is_plain_cdrom or not context.owns(drive.file):
        return
    if is_volume_used(config, drive.file, but=drive.key):
        raise die(f"unable to delete '{drive.file}' - volume is still in use (snapshot?)")
    outcome.freed.append(drive.file)
