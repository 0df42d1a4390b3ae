"""Where a lab keeps what: its state, and how to reach it while it runs."""

from __future__ import annotations

import json
from pathlib import Path

from stockman.model.errors import NotFound
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret

DEFAULT = ".stockman/lab.state"


@record
class LabFiles:
    """The files of one lab."""

    state: Path

    @property
    def lock(self) -> Path:
        """Held by the process that serves it."""
        return self.state.with_name(f"{self.state.name}.lock")

    @property
    def run(self) -> Path:
        """There while it runs: process, port and token of the door for who runs it."""
        return self.state.with_name(f"{self.state.name}.run")

    @property
    def authority(self) -> Path:
        """The certificate authority of its hosts."""
        return self.state.with_name(f"{self.state.name}.ca.pem")

    @property
    def ssh_key(self) -> Path:
        """The private key that opens its hosts over SSH."""
        return self.state.with_name(f"{self.state.name}.ssh")

    @property
    def kubeconfig(self) -> Path:
        """For clients of API servers; with a private key."""
        return self.state.with_name(f"{self.state.name}.kubeconfig")

    @property
    def talosconfig(self) -> Path:
        """How clients reach its Talos machines."""
        return self.state.with_name(f"{self.state.name}.talosconfig")

    @property
    def log(self) -> Path:
        """What a lab in the background says."""
        return self.state.with_name(f"{self.state.name}.log")


@record
class Running:
    """A lab that runs."""

    pid: int
    port: int
    token: Secret


def running(files: LabFiles) -> Running:
    """The lab that is served from a state; refuses where none is."""
    try:
        data = json.loads(files.run.read_bytes())
        return Running(
            pid=int(data["pid"]),
            port=int(data["port"]),
            token=Secret(str(data["token"])),
        )
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(absent(files)) from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        raise NotFound(absent(files)) from None


def absent(files: LabFiles) -> Problem:
    """No lab runs on a state."""
    return Problem(
        code="lab.absent",
        what="no lab is running",
        where=str(files.state),
        why="nothing serves this state now",
        fix="start one with `stockman lab up`, or name the state of one that runs with --state",
    )
