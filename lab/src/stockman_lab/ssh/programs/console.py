"""Proxmox VE on the command line: the same calls as over the API, in the name of root."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.state import ROOT as ROOT_USER
from stockman_lab.pve.api.api import Api
from stockman_lab.pve.api.call import ApiReply, ApiRequest, Later, Outcome
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import Host
from stockman_lab.ssh.host_files import ROOT
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams

FAILED = 255
_STEP = 0.25
_LONGEST = 86_400.0


class Passing(Protocol):
    """Time of the world, for who waits in it."""

    def catch_up(self) -> None:
        """Bring the world up to this moment."""
        ...

    def go_on(self) -> None:
        """See to it that what is planned happens."""
        ...

    async def wait(self, seconds: float) -> None:
        """Let so many seconds pass inside."""
        ...


@dataclass(slots=True)
class Console:
    """Who asks the API of a host without a wire, and waits for what it begins."""

    api: Api
    host: Host
    passing: Passing

    async def ask(self, method: str, path: str, params: dict[str, object]) -> object:
        """The data that is answered; raises `ApiError` where it is a refusal."""
        self.passing.catch_up()
        request = ApiRequest(method, path, params, caller=Caller(ROOT_USER))
        outgoing = self.api.perform(self.host, request)
        if isinstance(outgoing, Later):
            await self.passing.wait(outgoing.seconds or 0.0)
            outgoing = outgoing.conclude(None)
        self.passing.go_on()
        return await self._data(outgoing)

    async def _data(self, reply: ApiReply) -> object:
        if reply.outcome is not Outcome.ANSWER:
            await forever()
        body = reply.body or {}
        if reply.status >= HTTPStatus.BAD_REQUEST:
            errors = body.get("errors")
            message = str(body.get("message", reply.reason))
            raise ApiError(reply.status, message, errors if isinstance(errors, dict) else None)
        return body.get("data")

    async def ended(self, upid: str, streams: Streams) -> int:
        """How a worker ended, which is waited for; its log is printed."""
        task = self.api.cluster.state.tasks[upid]
        waited = 0.0
        while task.is_running:
            if waited > _LONGEST:
                await forever()
            await self.passing.wait(_STEP)
            waited += _STEP
        for line in task.log[:-1]:
            streams.out.write(f"{line}\n")
        if task.exit_status == "OK" or task.exit_status.startswith("WARNINGS"):
            return 0
        streams.err.write(f"{task.exit_status}\n")
        return FAILED


async def forever() -> None:
    """Never come back."""
    await asyncio.get_running_loop().create_future()


def refused(error: ApiError, streams: Streams) -> int:
    """Say why something was refused, as the command line does."""
    if error.errors:
        streams.err.write(f"{error.status} {error.message.strip()}\n")
        for name, text in error.errors.items():
            streams.err.write(f"{name}: {text.strip()}\n")
    else:
        streams.err.write(f"{error.message.strip()}\n")
    return FAILED


def is_refused_to(shell: Shell, streams: Streams) -> bool:
    """Whether somebody is not root, who alone can reach the files of the cluster."""
    if shell.files.user == ROOT:
        return False
    streams.err.write("ipcc_send_rec[1] failed: Unknown error -1\n" * 3)
    streams.err.write("Unable to load access control list: Unknown error -1\n")
    return True


def options(arguments: list[str]) -> tuple[list[str], dict[str, object]]:
    """Arguments and options: `-key value`, `--key value` or `--key=value`."""
    bare: list[str] = []
    named: dict[str, object] = {}
    given = list(arguments)
    while given:
        word = given.pop(0)
        if not word.startswith("-") or word == "-":
            bare.append(word)
            continue
        name, sign, value = word.lstrip("-").partition("=")
        if sign:
            named[name] = value
        elif given and not given[0].startswith("-"):
            named[name] = given.pop(0)
        else:
            named[name] = "1"
    return bare, named
