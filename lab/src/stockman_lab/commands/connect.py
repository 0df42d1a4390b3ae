"""`stockman lab connect`: configuration files that lead to a lab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click

from stockman.adapters.files import replace_file
from stockman.app.workspace.directory import read_directory
from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table
from stockman.config.writers.yaml_edit import NotWritable, read_key, set_key
from stockman.model.errors import Conflict
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman_lab.commands import options as lab_options
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


@command(
    name="connect",
    examples={
        "stockman lab connect": "make the files of this directory lead to the lab",
        "stockman lab connect -o json": "the same for programs",
    },
)
@options.output
@lab_options.state
@click.pass_context
def lab_connect(ctx: click.Context, output: Output, state: str | None) -> None:
    """Write into cluster.yaml where a running lab answers.

    Three keys lead to a lab as they lead to any other Proxmox VE: the address of its API, the
    certificate authority of its hosts, which is copied beside the file, and the address of its
    Image Factory. Comments and everything else stay as they are.
    """
    found = connect(lab_options.places(ctx, state), options.directory(ctx))
    show(found, kind="LabConnection", output=output, human=_lines)
    env = f"stockman lab env{lab_options.named(state)}"
    current_screen().note(f'next: `eval "$({env})"` gives this shell a token of its root')


def _lines(changes: tuple[Written, ...], screen: Screen) -> Iterator[str]:
    rows = [
        (
            Cell(one.key, "name"),
            one.value,
            Cell("written", "good") if one.is_new else Cell("kept", "faint"),
        )
        for one in changes
    ]
    yield from table(("KEY", "VALUE", "STATE"), rows, width=screen.width, paint=screen.paint)
