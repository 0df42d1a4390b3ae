"""Client configurations on disk: where they are, and how they get there without being seen."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.adapters.git import GitRepo
from stockman.adapters.private_files import close_to_others, replace_private_file
from stockman.app.keyring import Keyring
from stockman.app.show import desired
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import Refused, StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.clock import Clock
from stockman.ports.entropy import Entropy

if TYPE_CHECKING:
    from stockman.talos.talosconfig_placing import State

_OF_PROGRAMS = ".stockman"
_LARGEST = 16 << 20
_TAG_BYTES = 4


@record
class Doors:
    """What client configurations need from the system."""

    clock: Clock
    entropy: Entropy
    keyring: Keyring
    environment: Mapping[str, str]


@record
class ClientFile:
    """What became of a client configuration."""

    file: str
    state: State
    context: str
    """What the context is called in the file; another name than the cluster's where that is
    taken."""
    roles: tuple[str, ...]
    """Roles of Talos, or groups of Kubernetes."""
    ends: datetime
    days_left: int
    closed: bool = False
    """Whether others could read the file before, and can no longer."""


def wanted_cluster(directory: Path) -> tuple[Desired, Cluster]:
    """What the files ask for; refuses where they ask for no cluster."""
    found = desired(directory)
    if found.cluster is None:
        raise Refused(
            Problem(
                code="client.no-cluster",
                what="there is no cluster to be a client of",
                why="the configuration names no Talos nodes",
                fix="write the cluster and its nodes, or name another directory with `-C`",
            )
        )
    return found, found.cluster


def place(directory: Path, variable: str, environment: Mapping[str, str], usual: str) -> Path:
    """The file of a workspace: the one that the variable names, if it is inside, or the usual.

    What programs keep in `.stockman` is theirs: `stockman lab env` names files there, too.
    """
    told = environment.get(variable, "")
    if told and not told.count(":"):
        path, here = (directory / told).absolute(), directory.resolve()
        real = path.resolve()
        if real.is_relative_to(here) and not real.is_relative_to(here / _OF_PROGRAMS):
            return path
    return directory / usual


def read(path: Path, shown: str) -> Secret:
    """The text of a file; empty where there is none."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST)
        return Secret(content.decode("utf-8"))
    except FileNotFoundError:
        return Secret("")
    except UnicodeDecodeError:
        raise StockmanError(_unusable(shown, "it is not UTF-8 text")) from None
    except OSError as error:
        raise StockmanError(_unusable(shown, error.strerror or type(error).__name__)) from None


def write(path: Path, shown: str, text: Secret, entropy: Entropy) -> None:
    """Write a file that only its owner can read."""
    tag = entropy.random_bytes(_TAG_BYTES).hex()
    try:
        replace_private_file(path, text.reveal().encode(), tag=tag)
    except OSError as error:
        raise StockmanError(_unwritable(shown, error.strerror or type(error).__name__)) from None


def close(path: Path, shown: str) -> bool:
    """Take the rights of others to a file that stays as it is; False: they had none."""
    try:
        return close_to_others(path)
    except OSError as error:
        raise StockmanError(_unwritable(shown, error.strerror or type(error).__name__)) from None


def refuse_exposed(path: Path, shown: str) -> None:
    """Refuse a place from where others would get the file through git."""
    target = path.resolve()
    above = next(one for one in target.parents if one.is_dir())
    if GitRepo(above).exposure(str(target.relative_to(above))) == "tracked":
        raise Refused(
            Problem(
                code="client.exposed",
                what=f"git would keep {shown}, which holds a private key",
                where=shown,
                why="it is tracked, or the next `git add .` takes it along",
                fix=f"run `git rm --cached {shlex.quote(shown)}` if it is tracked, and add its name"
                " to .gitignore",
            )
        )


def shown_name(path: Path, directory: Path) -> str:
    """A file as the user knows it: relative to the workspace where it is inside."""
    here, there = directory.absolute(), path.absolute()
    return str(there.relative_to(here)) if there.is_relative_to(here) else str(path)


def _unusable(shown: str, why: str) -> Problem:
    return Problem(
        code="client.unreadable",
        what=f"{shown} cannot be read",
        where=shown,
        why=why,
        fix="check that it is a file that you may read, or move it away to get a new one",
    )


def _unwritable(shown: str, why: str) -> Problem:
    return Problem(
        code="client.unwritable",
        what=f"{shown} cannot be written",
        where=shown,
        why=f"the system says: {why}",
        fix="make room and give yourself the right to write there; nothing was changed",
    )
