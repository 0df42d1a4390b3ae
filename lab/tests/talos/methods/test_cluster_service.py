"""The health of clusters, checked by a machine."""

from __future__ import annotations

import asyncio

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.services.running import stop
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode

METHOD = "cluster.ClusterService/HealthCheck"
VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
ORDER = [
    "etcd to be healthy",
    "etcd members to be consistent across nodes",
    "etcd members to be control plane nodes",
    "apid to be ready",
    "all nodes memory sizes",
    "all nodes disk sizes",
    "no diagnostics",
    "kubelet to be healthy",
    "all nodes to finish boot sequence",
    "all k8s nodes to report",
    "all control plane static pods to be running",
    "all control plane components to be ready",
    "all k8s nodes to report ready",
    "kube-proxy to report ready",
    "coredns to report ready",
    "all k8s nodes to report schedulable",
]


def checked(world: World, *roles: str, **fields: object) -> tuple[list[str], Refusal | None]:
    """Lines of a check, and how it ended where that was not well."""
    asking = Asking(world, machine(world), *roles)
    by_name = {"wait_timeout": 1200.0, "cluster_info": {}, **fields}
    lines: list[str] = []

    async def collect() -> Refusal | None:
        try:
            async for value in asking.door.stream(METHOD, **by_name):
                lines.append(value.message)  # noqa: PERF401  # kept when it ends badly
        except Refusal as refusal:
            return refusal
        return None

    return lines, asyncio.run(collect())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_cluster_that_is_well_passes_every_check_in_order(version: str) -> None:
    world = staged("three-node", version)
    lines, refusal = checked(world)
    assert refusal is None
    addresses = {machine.address for machine in world.talos.machines}
    assert lines[0].startswith("discovered nodes: [")
    assert set(lines[0].split('"')[1::2]) == addresses
    begun = [line for line in lines if line.endswith(": ...")]
    assert begun == [f"waiting for {one}: ..." for one in ORDER]
    ended = [line for line in lines[1:] if not line.endswith(": ...")]
    assert all(one.endswith((": OK", ": SKIP")) for one in ended)
    assert len(ended) == len(ORDER)


def test_etcd_that_is_down_is_named_until_the_time_is_up() -> None:
    world = staged("three-node")
    node = world.talos.machines[1]
    stop(node, "etcd")
    began = world.now
    lines, refusal = checked(world)
    assert refusal is not None
    assert refusal.code is GrpcCode.DEADLINE_EXCEEDED
    assert refusal.message == "context deadline exceeded"
    assert world.now == pytest.approx(began + 1200.0, abs=10.0)
    assert (
        f'{node.address}: service "etcd" not in expected state "Running": '
        "current state [Finished] Service finished successfully"
    ) in lines[-1]
    assert len(lines) == 3


@pytest.mark.parametrize(("version", "seconds"), [("1.12.1", 300.0), ("1.13.9", 1200.0)])
def test_older_ones_give_up_one_check_earlier(version: str, seconds: float) -> None:
    world = staged("single", version)
    stop(machine(world), "kubelet")
    began = world.now
    lines, refusal = checked(world)
    assert refusal is not None
    assert lines[-1].startswith("waiting for kubelet to be healthy: 1 error occurred:\n\t* ")
    assert world.now == pytest.approx(began + seconds, abs=10.0)


def test_a_node_that_is_not_reached_is_named() -> None:
    world = staged("three-node")
    machine = world.talos.machines[1]
    match = {"address": machine.address}
    world.faults.add(Fault(Point.NETWORK, Effect.FAIL, match, times=None))
    lines, refusal = checked(world, wait_timeout=30.0)
    assert refusal is not None
    assert f"1 error occurred:\n\t* {machine.address}: rpc error: code = Unavailable" in lines[-1]


def test_a_node_without_power_is_not_forgotten_at_once() -> None:
    world = staged("three-node")
    lost = world.talos.machines[1]
    world.talos.power_off(lost)
    lines, refusal = checked(world, wait_timeout=30.0)
    assert refusal is not None
    assert lines[-1].startswith("waiting for etcd to be healthy")
    world.advance(1900.0)
    assert lost not in world.talos.members(world.talos.machines[0])


def test_a_reader_sees_the_checks_of_machines_only() -> None:
    lines, refusal = checked(staged("three-node"), "os:reader", wait_timeout=60.0)
    assert refusal is not None
    denied = "rpc error: code = PermissionDenied desc = not authorized"
    assert lines[-1] == f"waiting for all k8s nodes to report: {denied}"


def test_nodes_can_be_named() -> None:
    world = staged("three-node")
    names = [machine.address for machine in world.talos.machines[:2]]
    lines, refusal = checked(world, cluster_info={"control_plane_nodes": names}, wait_timeout=10.0)
    assert lines[0] == f'discovered nodes: ["{names[0]}" "{names[1]}"]'
    assert refusal is not None
    assert "are not subset of control plane node ips" in lines[-1]


def test_names_that_are_no_addresses_are_refused() -> None:
    lines, refusal = checked(staged(), cluster_info={"worker_nodes": ["w-1"]})
    assert not lines
    assert refusal is not None
    assert refusal.message == 'ParseAddr("w-1"): unable to parse IP'


def test_a_cordoned_node_is_named_last() -> None:
    world = staged()
    node = machine(world)
    node.state.kubernetes.cordoned = True
    lines, refusal = checked(world, wait_timeout=10.0)
    assert refusal is not None
    assert lines[-1].endswith(f"schedulable: some nodes are not schedulable: [{node.hostname}]")


def test_too_little_memory_is_told_in_mebibytes() -> None:
    world = staged()
    machine(world).state.memory = 1 << 30
    lines, refusal = checked(world, wait_timeout=10.0)
    assert refusal is not None
    assert "does not meet memory requirements: expected at least 1698 MiB, actual" in lines[-1]


def test_a_node_that_is_still_booting_is_waited_for() -> None:
    from stockman_lab.talos.state import Stage

    world = staged()
    node = machine(world)
    node.state.stage = Stage.BOOTING
    lines, refusal = checked(world, wait_timeout=10.0)
    assert refusal is not None
    assert lines[-1].endswith(f"nodes are not running: booting: [{node.address}]")
