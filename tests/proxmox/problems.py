"""Every problem of the Proxmox API, made by an answer or a wire that its page is compared with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from stockman.adapters.proxmox import errors
from stockman.adapters.proxmox.endpoint import Endpoints, tls_context
from stockman.adapters.proxmox.transport import Multipart
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.ports.environment import Trust
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.errors import ErrorReply, Requester, reply_error, unexpected_answer
from stockman.proxmox.storages import Upload
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Reply, Request
from tests.adapters.http_proxmox.talking import SimulatedClock

VM = ("nodes", "pve1", "qemu", "1021")
READ = Request(method="GET", segments=(*VM, "config"))
CREATE = Request(method="POST", segments=("nodes", "pve1", "qemu"))
CHANGE = Request(method="POST", segments=(*VM, "config"))
DELETE = Request(method="DELETE", segments=VM)
TASK = TaskRef.parse("UPID:pve1:0003F1A2:01B2C3D4:70DBD880:qmclone:9000:stockman@pve!main:")
FINGERPRINT = ":".join(["5F", "0A"] * 16)


def told(request: Request, status: int, reason: str, **errors: str) -> Problem:
    return reply_error(request, ErrorReply(status=status, reason=reason, errors=errors)).problem


def not_let_in() -> Problem:
    requester = Requester(
        name="token stockman@pve!stockman", source="talos/proxmox-tokens.sops.yaml"
    )
    error_reply = ErrorReply(
        status=401,
        reason="Authentication failed!",
        requester=requester,
        endpoint="https://127.66.0.4:8006",
    )
    return reply_error(Request(method="GET", segments=("version",)), error_reply).problem


def caught(act: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as exc_info:
        act()
    return exc_info.value.problem


class _Told:
    """A wire of one task: how it stands, and its log."""

    def __init__(self, **state: str) -> None:
        self._state = state

    async def call(self, request: Request) -> Reply:
        if request.segments[-1] == "log":
            lines = ("create full clone of drive scsi0", "transferred 3.2 GiB of 10.0 GiB")
            return Reply(data=[{"t": line} for line in lines], total=len(lines))
        return Reply(data=self._state)


def waited(**state: str) -> Problem:
    pve = ProxmoxClient(_Told(**state), SimulatedClock())
    return caught(lambda: asyncio.run(pve.wait_task(TASK)))


def sent() -> Problem:
    async def nothing() -> AsyncIterator[bytes]:
        yield b""

    async def send() -> None:
        file = Upload(content="iso", name="cp-1.iso", size=374784, read=nothing)
        async for _ in Multipart(CREATE, file).body():
            pass

    return caught(lambda: asyncio.run(send()))


def agent() -> Problem:
    ping = Request(method="POST", segments=(*VM, "agent", "ping"))
    return told(ping, 500, "QEMU guest agent is not running")


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "proxmox.agent": agent,
    "proxmox.answer": lambda: unexpected_answer(READ, "its reply is not a JSON object").problem,
    "proxmox.authentication": not_let_in,
    "proxmox.authority": lambda: caught(lambda: tls_context(Trust(ca=b"pve-root-ca"))),
    "proxmox.certificate": lambda: (
        errors.certificate_error(
            "https://127.66.0.4:8006", "unable to get local issuer certificate", FINGERPRINT
        ).problem
    ),
    "proxmox.changed": lambda: told(CHANGE, 500, "checksum mismatch (file change by other user?)"),
    "proxmox.denied": lambda: told(READ, 403, "Permission check failed (/vms/1021, VM.Audit)"),
    "proxmox.address": lambda: caught(
        lambda: Endpoints(urls=("http://127.66.0.4:8006",)).servers()
    ),
    "proxmox.exists": lambda: told(
        CREATE, 500, "unable to create VM 1021 - VM 1021 already exists on node 'pve2'"
    ),
    "proxmox.host-down": lambda: told(READ, 595, "No route to host"),
    "proxmox.locked": lambda: told(CHANGE, 500, "VM is locked (backup)"),
    "proxmox.no-quorum": lambda: told(CHANGE, 500, "cluster not ready - no quorum?"),
    "proxmox.no-such-call": lambda: told(
        Request(method="GET", segments=("cluster", "ha", "rules")),
        501,
        "Method 'GET /cluster/ha/rules' not implemented",
    ),
    "proxmox.not-found": lambda: told(
        READ, 500, "Configuration file 'nodes/pve1/qemu-server/1021.conf' does not exist"
    ),
    "proxmox.parameters": lambda: told(
        CREATE,
        400,
        "Parameter verification failed.",
        cores="value must have a minimum value of 1",
    ),
    "proxmox.refused": lambda: told(CHANGE, 500, "only root can set 'args' config"),
    "proxmox.state": lambda: told(DELETE, 500, "VM 1021 is running - destroy failed"),
    "proxmox.task-failed": lambda: waited(
        status="stopped", exitstatus="clone failed: out of space on tank"
    ),
    "proxmox.task-late": lambda: waited(status="running"),
    "proxmox.timeout": lambda: told(CHANGE, 500, "got no worker upid - start worker failed"),
    "proxmox.unknown-outcome": lambda: told(CHANGE, 596, "Connection timed out"),
    "proxmox.unreachable": lambda: (
        errors.unreachable_error("https://127.66.0.4:8006", "connection refused").problem
    ),
    "proxmox.upload": sent,
}
