"""Every problem of steps about machines and etcd, made by a call that its page is compared with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Severity
from stockman.steps import talos_problems as problems
from stockman.steps.talos_rendered import machine_ref
from tests.steps.talos_scene import scene

NODE, ADDRESS = "cp-1", "10.42.0.11"
_SILENT = "no route to host"
_MEMBER = "8e9e05c52164694d"
_UUIDS = (
    "its UUID is 00000000-0000-4000-8000-000000000007, and that of cp-1 is "
    "9f8d654c-c9b4-502f-98ce-50b103cc491e"
)


def no_node() -> Problem:
    found = scene("single")
    with pytest.raises(StockmanError) as caught:
        asyncio.run(found.ports.to_secrets().read(machine_ref("cp-9")))
    return caught.value.problem


def warned(problem: Problem) -> Problem:
    return replace(problem, severity=Severity.WARNING)


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "node.identity": lambda: problems.another_machine(NODE, ADDRESS, _UUIDS),
    "node.other-cluster": lambda: problems.another_cluster(
        NODE, ADDRESS, "the authority of its certificates is not that of this cluster"
    ),
    "node.moved": lambda: problems.moved(
        NODE, ADDRESS, "the digest of its configuration is 3f1f0c2a9d41, and was b87a22e00c15"
    ),
    "node.other-configuration": lambda: problems.another_configuration(
        NODE, "3f1f0c2a9d41", "b87a22e00c15"
    ),
    "node.absent": lambda: problems.absent(
        NODE,
        ADDRESS,
        1200.0,
        (f"nobody answers on {ADDRESS}:50000 ({_SILENT})", "VM 1030 runs on pve1"),
        problems.LOOK_AT_CONSOLE,
    ),
    "node.late": lambda: problems.late(NODE, ADDRESS, 1200.0, _SILENT),
    "node.unknown": lambda: warned(problems.not_reached(NODE, ADDRESS, _SILENT)),
    "node.upgrade": lambda: problems.version_differs(NODE, "Talos", "v1.13.9", "v1.14.1"),
    "node.image": lambda: problems.old_image(NODE, ADDRESS, "v1.13.9", "v1.14.1"),
    "node.renamed": lambda: problems.renamed("cp-new", ADDRESS, NODE),
    "node.role": lambda: problems.role_differs(NODE, "worker", "controlplane"),
    "node.clock": lambda: problems.clock(NODE, -42.0, 5.0, "10.42.0.1"),
    "node.api-address-taken": lambda: problems.address_taken(
        "10.42.0.10", "port 6443 takes connections"
    ),
    "node.no-node": no_node,
    "etcd.split": lambda: problems.etcd_split(("cp-1", "cp-2")),
    "etcd.member-lives": lambda: problems.member_lives(_MEMBER, NODE),
    "etcd.unknown-member": lambda: warned(problems.stranger_in_etcd(_MEMBER, "cp-7")),
}
