"""Machines without a configuration answer as their version does."""

from __future__ import annotations

import asyncio

import pytest
from stockman_lab.talos.api.call import Refusal

from lab.tests.talos.api.pretended import Asking, PretendedLand, PretendedMachine

MACHINE = "/machine.MachineService"
NOBODY: frozenset[str] = frozenset()


def answer(minor: str, path: str, **headers: list[str]) -> str:
    """`ok`, or the refusal."""
    pretended_machine = PretendedMachine("m1", ["127.0.0.2"], minor, is_controlplane=False)
    pretended_machine.enter_maintenance()
    try:
        asyncio.run(
            Asking(PretendedLand(pretended_machine)).one(
                pretended_machine, path, roles=NOBODY, headers=headers
            )
        )
    except Refusal as refusal:
        return str(refusal).removeprefix("rpc error: code = ")
    return "ok"


@pytest.mark.parametrize(
    ("minor", "path", "expected"),
    [
        ("1.11", f"{MACHINE}/ApplyConfiguration", "ok"),
        ("1.14", f"{MACHINE}/ApplyConfiguration", "ok"),
        (
            "1.12",
            f"{MACHINE}/Version",
            "Unimplemented desc = API is not implemented in maintenance mode",
        ),
        ("1.13", f"{MACHINE}/Version", "ok"),
        ("1.12", "/cosi.resource.State/Get", "ok"),
        ("1.13", "/cosi.resource.State/Get", "ok"),
        (
            "1.12",
            "/time.TimeService/Time",
            "Unimplemented desc = unknown service time.TimeService",
        ),
        ("1.12", f"{MACHINE}/Reboot", "Unimplemented desc = method Reboot not implemented"),
        ("1.13", f"{MACHINE}/Reboot", "PermissionDenied desc = not authorized"),
        (
            "1.12",
            f"{MACHINE}/GenerateClientConfiguration",
            (
                "Unimplemented desc = client configuration (talosconfig) can't be generated in the "
                "maintenance mode"
            ),
        ),
        (
            "1.13",
            f"{MACHINE}/EtcdMemberList",
            "Unimplemented desc = machine type is not set, cannot use member list API",
        ),
    ],
)
def test_what_is_answered_to_anybody(minor: str, path: str, expected: str) -> None:
    assert answer(minor, path) == expected


@pytest.mark.parametrize("minor", ["1.12", "1.13"])
def test_nothing_is_carried_on(minor: str) -> None:
    path = f"{MACHINE}/ApplyConfiguration"

    assert answer(minor, path, node=[""]) == "ok"
    assert answer(minor, path, nodes=["127.0.0.3", "127.0.0.4"]) == "ok"
