"""What becomes of a volume when its drive goes."""

from __future__ import annotations

from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.drive import Drive
from stockman_lab.pve.guest_config.pending import add_unused, is_volume_used
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.surroundings import Outcome, Surroundings


def detach(config: GuestConfig, drive: Drive, surroundings: Surroundings, outcome: Outcome) -> None:
    """Keeps an owned disk as `unusedN`, destroys a cloud-init drive, forgets all else."""
    if drive.is_cloud_init:
        outcome.freed.append(drive.file)
        config.cloud_init.clear()
    elif not drive.is_cdrom and drive.volume and surroundings.owns(drive.volume):
        key = add_unused(config, drive.volume)
        if key:
            outcome.unused[key] = drive.volume


def destroy(
    config: GuestConfig, drive: Drive, surroundings: Surroundings, outcome: Outcome
) -> None:
    """Destroys an owned disk; refuses one that something else still needs."""
    if drive.is_plain_cdrom or not surroundings.owns(drive.file):
        return
    if is_volume_used(config, drive.file, but=drive.key):
        raise die(f"unable to delete '{drive.file}' - volume is still in use (snapshot?)")
    outcome.freed.append(drive.file)
