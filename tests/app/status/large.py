"""A look at very many nodes, made from one at three."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from stockman.assessment.status.observed import StatusInput
from stockman.model.desired import Node, Role
from stockman.model.names import NodeName, Vmid
from stockman.planning.fact import Fact
from stockman.planning.observed.kubernetes import ObservedNode
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.observed.talos import ObservedMachine
from stockman.proxmox.cluster import GuestSummary
from stockman.talos.nocloud.seed import provider_id


def multiplied(seen: StatusInput, workers: int) -> StatusInput:
    """The same look at so many workers more, all of them well."""
    rows = [_worker(seen, number) for number in range(workers)]
    observed = seen.observed
    assert observed.talos is not None
    assert observed.kubernetes is not None
    machines: Mapping[str, ObservedMachine] = {
        **observed.talos.machines,
        **{str(row.name): _machine(seen, row) for row in rows},
    }
    nodes = (*(observed.kubernetes.nodes or ()), *(_node(seen, row) for row in rows))
    proxmox = _proxmox(observed.proxmox["pve"], rows)
    return replace(
        seen,
        desired=replace(seen.desired, nodes=(*seen.desired.nodes, *rows)),
        observed=replace(
            observed,
            proxmox={"pve": proxmox},
            talos=replace(observed.talos, machines=machines),
            kubernetes=replace(observed.kubernetes, nodes=nodes),
        ),
    )


def _worker(seen: StatusInput, number: int) -> Node:
    first = seen.desired.nodes[number % 3]
    assert first.vm is not None
    name, vmid = f"work-{number:04}", Vmid(10_000 + number)
    vm = replace(first.vm, name=name, vmid=vmid, uuid=UUID(int=number + 1))
    return replace(first, name=NodeName(name), role=Role.WORKER, vm=vm)


def _machine(seen: StatusInput, node: Node) -> ObservedMachine:
    assert seen.talos is not None
    assert node.vm is not None
    first = next(iter(seen.talos.machines.values()))
    return replace(first, node=str(node.name), uuid=node.vm.uuid, macs=(node.mac_addr,))


def _node(seen: StatusInput, node: Node) -> ObservedNode:
    assert node.vm is not None
    first = next(iter(seen.nodes.values()))
    return replace(
        first, name=str(node.name), is_controller=False, provider_id=provider_id(node.vm)
    )


def _proxmox(seen: ObservedProxmox, nodes: list[Node]) -> ObservedProxmox:
    assert isinstance(seen.resources, Fact)
    configs = dict(seen.configs)
    template = next(config for config in configs.values() if isinstance(config, Fact))
    guests = list(seen.resources.value.guests)
    for node in nodes:
        vm = node.vm
        assert vm is not None
        guests.append(
            GuestSummary(kind="qemu", vmid=vm.vmid, host=vm.host, status="running", name=vm.name)
        )
        values = {"name": vm.name, "smbios1": f"uuid={vm.uuid}"}
        configs[vm.vmid] = replace(template, value=replace(template.value, values=values))
    resources = replace(seen.resources.value, guests=tuple(guests))
    return replace(seen, configs=configs, resources=replace(seen.resources, value=resources))
