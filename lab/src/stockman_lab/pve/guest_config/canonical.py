"""Values of a request as they are written down: canonical, and with what was left to choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.formats.drive import Drive, is_drive, parse_drive
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.nic import (
    DEFAULT_PREFIX,
    Throws,
    completed_container_nic,
    completed_nic,
)
from stockman_lab.pve.guest_config.keys import is_indexed

MOST_CPU_UNITS = 10_000


class Shelf(Protocol):
    """Storages, as far as names of volumes need them."""

    def content_of(self, volume: str) -> str:
        """Content of a volume by its name; raises `ApiError` for a storage that is not there."""

    def volume_at(self, path: str) -> str:
        """The volume at a path of the host, or nothing."""


def canonical_machine(
    sets: Mapping[str, str], dice: Throws, prefix: str = DEFAULT_PREFIX
) -> dict[str, str]:
    """Cards with addresses, a generation id instead of `1`, CPU weights within bounds."""
    done = dict(sets)
    for key in sorted(sets):
        if is_indexed(key, "net"):
            done[key] = str(completed_nic(sets[key], dice, prefix))
        elif key == "vmgenid" and sets[key] == "1":
            done[key] = dice.uuid()
        elif key == "cpuunits":
            done[key] = _bounded(sets[key])
    return done


def canonical_container(
    sets: Mapping[str, str], dice: Throws, prefix: str = DEFAULT_PREFIX
) -> dict[str, str]:
    """Cards with addresses, CPU weights within bounds."""
    done = dict(sets)
    for key in sorted(sets):
        if is_indexed(key, "net"):
            done[key] = str(completed_container_nic(sets[key], dice, prefix))
        elif key == "cpuunits":
            done[key] = _bounded(sets[key])
    return done


def canonical_drives(sets: Mapping[str, str], shelf: Shelf) -> dict[str, str]:
    """Drives in canonical form; refuses those that cannot be."""
    done = dict(sets)
    for key in sorted(sets):
        if is_drive(key):
            done[key] = str(_checked_drive(key, sets[key], shelf))
    return done


def _bounded(units: str) -> str:
    return str(min(int(units), MOST_CPU_UNITS))


def _checked_drive(key: str, text: str, shelf: Shelf) -> Drive:
    try:
        drive = parse_drive(key, text)
    except FormatError:
        raise bad_parameters({key: "unable to parse drive options"}) from None
    if drive.import_from:
        _check_import(drive)
    _find_volume(drive, shelf)
    if drive.file in ("none", "cdrom"):
        drive.options.setdefault("media", "cdrom")
    held = drive.volume and not drive.new_disk and not drive.new_cloud_init
    if held and shelf.content_of(drive.volume) == "iso" and not drive.is_cdrom:
        raise bad_parameters({key: "explicit 'media=cdrom' is required for iso images"})
    return drive


def _check_import(drive: Drive) -> None:
    new = drive.new_disk
    if not new or float(new[1]) != 0:
        raise bad_parameters(
            {
                drive.key: "'import-from' requires special syntax - "
                "use <storage ID>:0,import-from=<source>"
            }
        )
    needed = {"efidisk0": ("efitype", "pre-enrolled-keys"), "tpmstate0": ("version",)}
    for option in needed.get(drive.key, ()):
        if option not in drive.options:
            raise bad_parameters(
                {drive.key: f"need to specify '{option}' when using 'import-from'"}
            )


def _find_volume(drive: Drive, shelf: Shelf) -> None:
    if not drive.file.startswith("/") or drive.file.startswith("/dev/") or ":" in drive.file:
        return
    volume = shelf.volume_at(drive.file)
    if not volume:
        raise bad_parameters({drive.key: f"unable to associate path '{drive.file}' to any storage"})
    content = shelf.content_of(volume)
    if content == "iso":
        drive.options.setdefault("media", "cdrom")
    media = drive.options.get("media", "")
    expected = {"disk": "images", "cdrom": "iso"}.get(media, content)
    if content != expected:
        raise bad_parameters({drive.key: f"unexpected media type ({content} != {expected})"})
    drive.file = volume
