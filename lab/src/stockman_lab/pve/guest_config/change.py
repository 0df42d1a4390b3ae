"""One request to change a configuration, read and made canonical."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.drive import Drive, is_drive, parse_drive
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.formats.nic import (
    DEFAULT_PREFIX,
    Throws,
    complete_container_nic,
    complete_nic,
)
from stockman_lab.pve.guest_config.keys import container_key_exists, is_indexed, machine_key_exists


@dataclass(slots=True)
class ConfigChange:
    """What somebody asks for."""

    sets: dict[str, str] = field(default_factory=dict)
    deletes: list[str] = field(default_factory=list)
    reverts: list[str] = field(default_factory=list)
    force: bool = False
    """Destroy what deleted drives hold."""


def read_machine_change(parameters: Mapping[str, str]) -> ConfigChange:
    """The change of a virtual machine; refuses what contradicts itself.

    `parameters` are the keys of the configuration, `delete`, `revert` and `force`.
    """
    sets = _only_keys(parameters)
    delete, revert = parameters.get("delete", ""), parameters.get("revert", "")
    if not delete and not revert and not sets:
        raise die("no options specified")
    cdrom = sets.pop("cdrom", "")
    if cdrom:
        sets["ide2"] = cdrom if "media=" in cdrom else f"{cdrom},media=cdrom"
    reverts = split_list(revert)
    for key in reverts:
        _check_exists(key, "revert", machine_key_exists)
        if key in sets:
            raise bad_parameters(
                {"delete": f"you can't use '-{key}' and -revert {key}' at the same time"}
            )
    deletes = ["ide2" if key == "cdrom" else key for key in split_list(delete)]
    for key in deletes:
        if key in sets:
            raise bad_parameters(
                {"delete": f"you can't use '-{key}' and -delete {key}' at the same time"}
            )
        if key in reverts:
            raise bad_parameters(
                {"revert": f"you can't use '-delete {key}' and -revert {key}' at the same time"}
            )
        _check_exists(key, "delete", machine_key_exists)
    return ConfigChange(sets, deletes, reverts, parameters.get("force", "0") == "1")


def read_container_change(parameters: Mapping[str, str]) -> ConfigChange:
    """The change of a container; refuses what contradicts itself."""
    sets = _only_keys(parameters)
    if not parameters:
        raise die("no options specified")
    deletes = split_list(parameters.get("delete", ""))
    reverts = split_list(parameters.get("revert", ""))
    for key in reverts:
        _check_exists(key, "revert", container_key_exists)
        if key in sets:
            raise bad_parameters(
                {"revert": f"you can't use '-{key}' and '-revert {key}' at the same time"}
            )
    for key in deletes:
        _check_exists(key, "delete", container_key_exists)
        if key in sets:
            raise bad_parameters(
                {"delete": f"you can't use '-{key}' and -delete {key}' at the same time"}
            )
        if key in reverts:
            raise bad_parameters(
                {"delete": f"you can't use '-delete {key}' and '-revert {key}' at the same time"}
            )
    return ConfigChange(sets, deletes, reverts)


def _only_keys(parameters: Mapping[str, str]) -> dict[str, str]:
    return {
        key: value for key, value in parameters.items() if key not in ("delete", "revert", "force")
    }


def _check_exists(key: str, parameter: str, exists: Callable[[str], bool]) -> None:
    if not exists(key):
        raise bad_parameters({parameter: f"unknown option '{key}'"})


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
            done[key] = str(complete_nic(sets[key], dice, prefix))
        elif key == "vmgenid" and sets[key] == "1":
            done[key] = dice.uuid()
        elif key == "cpuunits":
            done[key] = _bound(sets[key])
    return done


def canonical_container(
    sets: Mapping[str, str], dice: Throws, prefix: str = DEFAULT_PREFIX
) -> dict[str, str]:
    """Cards with addresses, CPU weights within bounds."""
    done = dict(sets)
    for key in sorted(sets):
        if is_indexed(key, "net"):
            done[key] = str(complete_container_nic(sets[key], dice, prefix))
        elif key == "cpuunits":
            done[key] = _bound(sets[key])
    return done


def canonical_drives(sets: Mapping[str, str], shelf: Shelf) -> dict[str, str]:
    """Drives in canonical form; refuses those that cannot be."""
    done = dict(sets)
    for key in sorted(sets):
        if is_drive(key):
            done[key] = str(_check_drive(key, sets[key], shelf))
    return done


def _bound(units: str) -> str:
    return str(min(int(units), MOST_CPU_UNITS))


def _check_drive(key: str, text: str, shelf: Shelf) -> Drive:
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
