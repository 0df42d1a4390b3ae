"""Hosts of a running lab, switched on and off."""

from __future__ import annotations

from typing import Any, cast

from stockman.model.errors import NotFound
from stockman.model.problem import Problem
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.commands.runtime.remote import ask, tell


def switched(files: LabFiles, name: str, *, on: bool) -> list[dict[str, Any]]:
    """Give a host its power, or take it; all hosts afterwards. Refuses names that none has."""
    known = host_names(files)
    if name not in known:
        raise NotFound(unknown_host(name, known))
    tell(files, "power", {"host": name, "on": on})
    return host_rows(files)


def host_rows(files: LabFiles) -> list[dict[str, Any]]:
    """All hosts: cluster, name, address, whether they have power."""
    found = cast("dict[str, Any]", ask(files, "status"))
    return [
        {"cluster": cluster["name"], **host}
        for cluster in found["clusters"]
        for host in cluster["hosts"]
    ]


def host_names(files: LabFiles) -> list[str]:
    """Names of all hosts."""
    return [str(host_row["name"]) for host_row in host_rows(files)]


def unknown_host(name: str, known: list[str]) -> Problem:
    """No host of a lab has a name."""
    return Problem(
        code="lab.host",
        what=f"the lab has no host {name!r}",
        why=f"it has {', '.join(known)}",
        fix="see `stockman lab status` for names and addresses",
    )
