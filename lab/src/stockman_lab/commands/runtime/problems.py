"""What can be wrong with a lab."""

from __future__ import annotations

from pathlib import Path

from stockman.model.errors import Conflict, Refused
from stockman.model.problem import Problem


def port_taken(address: str, port: int) -> Conflict:
    """Somebody else listens where a host should answer."""
    return Conflict(
        Problem(
            code="lab.port",
            what=f"{address}:{port} is in use",
            where=f"{address}:{port}",
            why="another program answers there, and clients would talk to that one",
            fix="stop it, or give the lab another network with --network",
        )
    )


def served_already(state: Path) -> Conflict:
    """Another process serves the same state."""
    return Conflict(
        Problem(
            code="lab.running",
            what="this lab runs already",
            where=str(state),
            why="two that share a state would overwrite each other's",
            fix="use it (`stockman lab env`), stop it (`stockman lab down`), or name another"
            " state with --state",
        )
    )


def damaged(state: Path, why: str) -> Refused:
    """A state that cannot be read."""
    return Refused(
        Problem(
            code="lab.state",
            what=f"{state.name} is no state of a lab",
            where=str(state),
            why=why,
            fix="name another file with --state, or move this one away to begin anew",
        )
    )


def not_staged(state: Path) -> Refused:
    """A lab that is there already, and has no machines."""
    return Refused(
        Problem(
            code="lab.staged",
            what="this lab is there already, and no Talos machine is in it",
            where=str(state),
            why="a stage is where a new lab begins; one that was kept goes on as it is",
            fix="leave --stage out, or name another file with --state",
        )
    )


def unwritable(state: Path, why: str) -> Conflict:
    """A state that cannot be written."""
    return Conflict(
        Problem(
            code="lab.unwritable",
            what="the state of the lab cannot be kept",
            where=str(state),
            why=f"the system says: {why}",
            fix="name a file that you may write with --state",
        )
    )
