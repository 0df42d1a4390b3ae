"""Configuration files that lead to a running lab: where it answers, and whom to trust.

Nothing but keys that lead to any other Proxmox VE and Image Factory in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from stockman.adapters.files import replace_file
from stockman.app.workspace.directory import read_directory
from stockman.config.writers.yaml_edit import NotWritable, read_key, set_key
from stockman.model.errors import Conflict
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.commands.runtime.remote import ask

FILE = "cluster.yaml"
AUTHORITY = "pve-root-ca.pem"
_TAG = "lab"


@record
class Written:
    """One key that leads to a lab."""

    key: str
    before: str | None
    """What it said. None: it was not there."""
    value: str

    @property
    def is_new(self) -> bool:
        return self.before != self.value


def connect(files: LabFiles, directory: Path) -> tuple[Written, ...]:
    """Write into the files of a directory where a running lab answers."""
    found = cast("dict[str, str]", ask(files, "environment"))
    contents = read_directory(directory)
    before = contents.get(FILE, b"").decode()
    values = dict(_lab_keys(found, before))
    if FILE not in contents:
        raise Conflict(not_connected(values, "a file of that name is not there"))
    text = before
    written = []
    for key, value in values.items():
        written.append(Written(key=key, before=read_key(text, key), value=value))
        try:
            text = set_key(text, key, value)
        except NotWritable:
            raise Conflict(not_connected(values, unwritten(key))) from None
    authority = Path(found["STOCKMAN_LAB_CA"]).read_bytes()
    replace_file(directory / AUTHORITY, authority, tag=_TAG)
    if text != before:
        replace_file(directory / FILE, text.encode(), tag=_TAG)
    return tuple(written)


def _lab_keys(values: dict[str, str], text: str) -> Iterator[tuple[str, str]]:
    yield "proxmox_endpoint", values["PROXMOX_VE_ENDPOINT"].rstrip("/")
    yield "proxmox.tls.ca_file", AUTHORITY
    has_talos = any(read_key(text, key) for key in ("talos_version", "talos.version"))
    if has_talos and "STOCKMAN_LAB_FACTORY" in values:
        yield "talos.factory_url", values["STOCKMAN_LAB_FACTORY"]


def unwritten(key: str) -> str:
    """Why a key has no obvious place."""
    return f"the part of it that {key} belongs into is written in one line, or is no mapping"


def not_connected(values: dict[str, str], why: str) -> Problem:
    """Files into which the keys of a lab cannot be written."""
    keys = ", ".join(f"{key}: {value}" for key, value in values.items())
    return Problem(
        code="lab.connect",
        what=f"the way to the lab cannot be written into {FILE}",
        where=FILE,
        why=why,
        fix=f"write it yourself: {keys}",
    )
