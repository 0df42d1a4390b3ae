"""Values that are valid, but together cannot be meant."""

from __future__ import annotations

import pytest

from stockman.config.resolve import card_mac, resolve
from stockman.model.problem import Problem
from tests.config.written import CLUSTER, NODES, loaded

WORKER = """\
  - name: work-{0}
    address: 127.66.0.3{0}
    controller: false
    mac_addr: bc:24:11:00:00:3{0}
    vm: {{vmid: 103{0}, host: pve-a{1}}}
"""


def problems(cluster: str = CLUSTER, nodes: str = NODES) -> list[Problem]:
    return list(loaded(cluster, nodes).problems)


def with_vm(keys: str) -> str:
    return NODES.replace("host: pve-a}", f"host: pve-a, {keys}}}")


@pytest.mark.parametrize("number", [10, 21])
def test_nobody_has_the_address_of_proxmox(number: int) -> None:
    cluster = CLUSTER.replace("127.66.0.4:8006", f"127.66.0.{number}:8006")

    (problem,) = problems(cluster)

    assert (problem.code, problem.is_error) == ("address.taken", True)


@pytest.mark.parametrize("pool", ["127.66.0.16/28", "127.66.0.8-127.66.0.10", "127.66.0.21"])
def test_a_pool_leaves_out_machines(pool: str) -> None:
    (problem,) = problems(f"{CLUSTER}cilium: {{loadbalancer_pool: [{pool}]}}\n")

    assert problem.code == "address.in-pool"
    assert str(problem.where) == "cluster.yaml:14:30"


def test_a_pool_beside_the_machines_is_right() -> None:
    assert problems(f"{CLUSTER}cilium: {{loadbalancer_pool: [127.66.0.64/28]}}\n") == []


@pytest.mark.parametrize(
    "cluster", [CLUSTER.replace("1.13.9", "1.13"), f"{CLUSTER}kubernetes_version: 1.36\n"]
)
def test_a_release_has_three_numbers(cluster: str) -> None:
    (problem,) = problems(cluster)

    assert problem.code == "config.value"
    assert "write all three numbers" in problem.fix


@pytest.mark.parametrize(("storage", "codes"), [("local-zfs", ["vm.ha-local"]), ("ceph", [])])
def test_ha_needs_a_shared_storage(storage: str, codes: list[str]) -> None:
    nodes = with_vm(f"datastore: {storage}, ha_group: all")

    assert [problem.code for problem in problems(nodes=nodes)] == codes


def test_an_agent_needs_its_extension() -> None:
    cluster = CLUSTER.replace("qemu-guest-agent", "iscsi-tools")

    assert [problem.code for problem in problems(cluster)] == ["vm.no-agent"]
    assert problems(cluster, with_vm("agent: false")) == []


def test_one_node_without_a_tag_is_noticed() -> None:
    tagged = with_vm("vlan_id: 5") + WORKER.format(1, ", vlan_id: 5")

    assert problems(nodes=tagged) == []
    (problem,) = problems(nodes=tagged + WORKER.format(2, ""))
    assert problem.code == "vm.untagged"
    assert "work-2" in problem.what


def test_memory_with_a_unit_is_explained() -> None:
    (problem,) = problems(nodes=with_vm("memory: 16G"))

    assert problem.fix == "write for example 16384"


def test_consequences_of_a_wrong_network_are_one_problem() -> None:
    cluster = CLUSTER.replace("127.66.0.0/24", "127.77.0.0/24")

    (problem,) = problems(cluster)

    assert problem.code == "address.outside-network"
    assert problem.what == "4 addresses are outside of the node network"
    assert str(problem.where) == "cluster.yaml:2:12"


def test_a_vm_needs_no_mac_address() -> None:
    without = NODES.replace("    mac_addr: bc:24:11:00:00:21\n", "")
    read = loaded(CLUSTER, without)

    assert list(read.problems) == []
    (node,) = resolve(read).nodes
    assert node.mac_addr == card_mac("meadow", "cp-1", 0)
    assert node.vm is not None
    assert [nic.mac_addr for nic in node.vm.nics] == [node.mac_addr]


def test_the_card_of_a_vm_may_have_the_address() -> None:
    without = with_vm("nics: [{bridge: vmbr0, mac_addr: bc:24:11:00:00:77}]")
    (node,) = resolve(
        loaded(CLUSTER, without.replace("    mac_addr: bc:24:11:00:00:21\n", ""))
    ).nodes

    assert node.mac_addr == "bc:24:11:00:00:77"


def test_a_machine_of_somebody_else_needs_its_mac_address() -> None:
    text = NODES.replace("    mac_addr: bc:24:11:00:00:21\n", "    disk: /dev/sda\n")
    nodes = text.replace("    vm: {vmid: 1021, host: pve-a}\n", "")

    assert [problem.what for problem in problems(nodes=nodes)] == ["nodes[0].mac_addr is missing"]


def test_an_unknown_component_is_reported_at_its_name() -> None:
    (problem,) = problems(f"{CLUSTER}components:\n  grafanaa:\n    enabled: true\n")

    assert problem.code == "component.unknown"
    assert str(problem.where) == "cluster.yaml:15:3"
