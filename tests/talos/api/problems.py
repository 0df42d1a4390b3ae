"""Every problem of the Talos API, made by an end of a call that its page is compared with."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

import pytest

from stockman.adapters.talos.endpoint import (
    ClientIdentity,
    TalosEndpoints,
    WrongKey,
    client_certificate_error,
    connection_error,
)
from stockman.model.errors import StockmanError
from stockman.model.names import MachineAddress
from stockman.model.problem import Problem
from stockman.ports.environment import ServerAddress
from stockman.talos.api.errors import (
    CallFailure,
    call_error,
    invalid_answer_error,
    lost_answer_error,
)
from stockman.talos.api.transport import GrpcCode, TalosRequest
from stockman.talos.credentials.talosconfig import TalosContext
from tests.talos.api.scripted import told

NODE = MachineAddress("10.42.0.11")
DOOR = ServerAddress(host=NODE, port=50000, name=NODE)
IMAGE = "installer.invalid/nocloud-installer:v1.14.1"


def ended(method: str, code: GrpcCode, words: str, *, is_read: bool = False) -> Problem:
    request = TalosRequest(method=f"machine.MachineService/{method}", node=NODE, is_read=is_read)
    return call_error(request, CallFailure(code=code, message=words)).problem


def caught(act: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as exc_info:
        act()
    return exc_info.value.problem


def installer() -> Problem:
    lines = ["running pre-flight checks", "host version 1.11.5 is too old to upgrade to 1.14.1"]
    answers = [{"progress": {"message": line}} for line in lines]
    talos = told(Upgrade=[*answers, {"progress": {"exit_code": 3}}])
    return caught(lambda: asyncio.run(talos.run_installer(NODE, IMAGE)))


def unwanted() -> Problem:
    error = ssl.SSLError(1, "alert")
    error.reason = "SSLV3_ALERT_CERTIFICATE_EXPIRED"
    denied = client_certificate_error(DOOR, error)
    assert denied is not None
    return denied.problem


def another_key() -> Problem:
    error = WrongKey(1, f"the fingerprint of its key is {'A' * 43}=, which was not named")
    return connection_error(DOOR, error).problem


READ = TalosRequest(method="machine.MachineService/Version", node=NODE)

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "talos.address": lambda: caught(lambda: TalosEndpoints(hosts=()).server("http://10.42.0.11")),
    "talos.answer": lambda: invalid_answer_error(READ, "version is missing").problem,
    "talos.busy": lambda: ended(
        "Upgrade",
        GrpcCode.FAILED_PRECONDITION,
        "another installation/upgrade is already in progress",
    ),
    "talos.certificate": another_key,
    "talos.denied": lambda: ended("Reboot", GrpcCode.PERMISSION_DENIED, "not authorized"),
    "talos.exists": lambda: ended(
        "Bootstrap", GrpcCode.ALREADY_EXISTS, "etcd data directory is not empty"
    ),
    "talos.identity": lambda: caught(lambda: ClientIdentity.of(TalosContext())),
    "talos.installer": installer,
    "talos.no-such-call": lambda: ended(
        "Kubeconfig",
        GrpcCode.UNIMPLEMENTED,
        "kubeconfig is only available on control plane nodes",
    ),
    "talos.node-down": lambda: ended(
        "Version",
        GrpcCode.UNAVAILABLE,
        'connection error: desc = "transport: Error while dialing: '
        'dial tcp 10.42.0.11:50000: connect: no route to host"',
    ),
    "talos.not-found": lambda: ended("MetaDelete", GrpcCode.NOT_FOUND, "meta key not found"),
    "talos.not-let-in": unwanted,
    "talos.refused": lambda: ended(
        "Rollback", GrpcCode.UNKNOWN, "cannot rollback: no previous boot entry found"
    ),
    "talos.rejected": lambda: ended(
        "ApplyConfiguration",
        GrpcCode.INVALID_ARGUMENT,
        "unknown keys found during decoding: machine: kubelets",
    ),
    "talos.silent": lambda: lost_answer_error(READ, "nothing came within 20 s").problem,
    "talos.state": lambda: ended(
        "Bootstrap", GrpcCode.FAILED_PRECONDITION, "time is not in sync yet"
    ),
    "talos.unknown-outcome": lambda: ended(
        "Reboot", GrpcCode.UNAVAILABLE, "error reading from server: EOF"
    ),
    "talos.unreachable": lambda: connection_error(DOOR, ConnectionRefusedError()).problem,
}
