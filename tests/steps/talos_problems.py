"""Every problem of steps about machines and etcd, made by a call that its page is compared with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Severity
from stockman.steps.talos import problems
from stockman.steps.talos.configuration import machine_config_ref
from tests.steps.talos_scene import scene

NODE, ADDRESS = "cp-1", "10.42.0.11"
_SILENT = "no route to host"
_MEMBER = "8e9e05c52164694d"
_UUIDS = (
    "its UUID is 00000000-0000-4000-8000-000000000007, and that of cp-1 is "
    "9f8d654c-c9b4-502f-98ce-50b103cc491e"
)


def no_node() -> Problem:
    cluster = scene("single")
    with pytest.raises(StockmanError) as caught:
        asyncio.run(cluster.ports.to_secrets().read(machine_config_ref("cp-9")))
    return caught.value.problem


def as_warning(problem: Problem) -> Problem:
    return replace(problem, severity=Severity.WARNING)


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "node.identity": lambda: problems.machine_identity_mismatch(NODE, ADDRESS, _UUIDS),
    "node.other-cluster": lambda: problems.foreign_machine(
        NODE, ADDRESS, "the authority of its certificates is not that of this cluster"
    ),
    "node.moved": lambda: problems.config_changed_meanwhile(
        NODE, ADDRESS, "the digest of its configuration is 3f1f0c2a9d41, and was b87a22e00c15"
    ),
    "node.other-configuration": lambda: problems.config_digest_mismatch(
        NODE, "3f1f0c2a9d41", "b87a22e00c15"
    ),
    "node.absent": lambda: problems.machine_absent(
        NODE,
        ADDRESS,
        1200.0,
        (f"nobody answers on {ADDRESS}:50000 ({_SILENT})", "VM 1030 runs on pve1"),
        problems.FIX_CHECK_CONSOLE,
    ),
    "node.late": lambda: problems.machine_timeout(NODE, ADDRESS, 1200.0, _SILENT),
    "node.unknown": lambda: as_warning(problems.machine_unreachable(NODE, ADDRESS, _SILENT)),
    "node.upgrade": lambda: problems.version_mismatch(NODE, "Talos", "v1.13.9", "v1.14.1"),
    "node.first-config": lambda: problems.first_config_unconfirmed(
        "talos-nas", "10.42.0.40", "stockman did not create this machine"
    ),
    "node.seed-ignored": lambda: problems.seed_ignored(NODE, ADDRESS),
    "node.image": lambda: problems.image_too_old(NODE, ADDRESS, "v1.13.9", "v1.14.1"),
    "node.renamed": lambda: problems.hostname_mismatch("cp-new", ADDRESS, NODE),
    "node.role": lambda: problems.role_mismatch(NODE, "worker", "controlplane"),
    "node.clock": lambda: problems.clock_skew(NODE, -42.0, 5.0, "10.42.0.1"),
    "node.api-address-taken": lambda: problems.address_in_use(
        "10.42.0.10", "port 6443 accepts connections"
    ),
    "node.no-node": no_node,
    "etcd.exists": lambda: problems.earlier_etcd(
        "cp-1", "run 20260301t060000z-1a2b3c finished step talos/bootstrap"
    ),
    "etcd.split": lambda: problems.split_etcd(("cp-1", "cp-2")),
    "etcd.member-lives": lambda: problems.member_still_running(_MEMBER, NODE),
    "etcd.unknown-member": lambda: as_warning(problems.unknown_etcd_member(_MEMBER, "cp-7")),
}
