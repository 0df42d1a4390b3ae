"""One request to change a configuration: what is set, deleted and reverted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.guest_config.keys import container_key_exists, machine_key_exists


@dataclass(slots=True)
class Change:
    """What somebody asks for."""

    sets: dict[str, str] = field(default_factory=dict)
    deletes: list[str] = field(default_factory=list)
    reverts: list[str] = field(default_factory=list)
    force: bool = False
    """Destroy what deleted drives hold."""


def read_machine_change(parameters: Mapping[str, str]) -> Change:
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
    return Change(sets, deletes, reverts, parameters.get("force", "0") == "1")


def read_container_change(parameters: Mapping[str, str]) -> Change:
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
    return Change(sets, deletes, reverts)


def _only_keys(parameters: Mapping[str, str]) -> dict[str, str]:
    return {
        key: value for key, value in parameters.items() if key not in ("delete", "revert", "force")
    }


def _check_exists(key: str, parameter: str, exists: Callable[[str], bool]) -> None:
    if not exists(key):
        raise bad_parameters({parameter: f"unknown option '{key}'"})
