"""Checks of the machines themselves: etcd, the API, memory, disks, services, boot."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stockman_lab.talos.api.roles import ADMIN
from stockman_lab.talos.disk import EPHEMERAL
from stockman_lab.talos.figures.partitions import MIB, system_partition
from stockman_lab.talos.health.outcome import Failing, Skipped, listed_errors, plain, quoted
from stockman_lab.talos.state import Stage

if TYPE_CHECKING:
    from stockman.talos.wire.values import Dynamic
    from stockman_lab.talos.health.checking import Checking

_KIB = 1024
_LEAST_MEMORY = {True: (1848 - 150) * MIB, False: (1024 - 150) * MIB}
"""For control planes, and for workers."""
_LEAST_DISK = (6 * 1024 - 2101 - 100 - 1 - 10) * MIB
_NOT_ALLOWED = "rpc error: code = PermissionDenied desc = not authorized"


async def etcd_is_healthy(checking: Checking) -> None:
    """etcd runs on all control planes."""
    _skip_without_etcd(checking)
    await _service_is_healthy(checking, "etcd")


async def kubelet_is_healthy(checking: Checking) -> None:
    """The kubelet runs on all control planes; workers are not asked."""
    await _service_is_healthy(checking, "kubelet")


async def etcd_is_consistent(checking: Checking) -> None:
    """All members know the same members."""
    _skip_without_etcd(checking)
    asker = checking.asker
    nodes = [controller.address for controller in checking.nodes.controllers]
    replies = []
    if asker.asks_one_by_one:
        for node in nodes:
            try:
                replies.append((node, await asker.one_node("EtcdMemberList", node)))
            except Failing as failing:
                message = f'error getting etcd member list from node "{node}": {failing}'
                raise Failing(message) from failing
    else:
        replies = await asker.all_nodes("EtcdMemberList", nodes)
    replies.sort(key=lambda one: one[0])
    if not replies:
        raise Failing("no messages returned")
    known = {_member(one): one.hostname for one in replies[0][1].members}
    for node, message in replies[1:]:
        if len(message.members) != len(known):
            got = plain([one.hostname for one in message.members])
            expected = plain(list(known.values()))
            raise Failing(f"{node}: expected to have {expected} members, got {got}")
        for member in message.members:
            if _member(member) not in known:
                raise Failing(f"{node}: found unexpected etcd member {member.hostname}")


async def members_are_controllers(checking: Checking) -> None:
    """Members of etcd are control planes."""
    _skip_without_etcd(checking)
    reply = await checking.asker.itself("EtcdMemberList")
    members = [urlsplit(url).hostname or "" for member in reply.members for url in member.peer_urls]
    own = [address for node in checking.nodes.controllers for address in node.addresses]
    if not set(members) <= set(own):
        raise Failing(
            f"etcd member ips {quoted(members)} are not subset of "
            f"control plane node ips {quoted(own)}"
        )


async def apid_is_ready(checking: Checking) -> None:
    """The API of all nodes answers."""
    await _versions(checking)


async def memory_is_enough(checking: Checking) -> None:
    """All nodes have the memory that they need."""
    try:
        await _versions(checking)
    except Failing as failing:
        if checking.asker.asks_one_by_one:
            raise
        raise Failing(f"error getting version: {failing}") from failing
    controllers = {controller.address for controller in checking.nodes.controllers}
    errors = []
    for node, message in await _memory(checking):
        least = _LEAST_MEMORY[node in controllers]
        total = message.meminfo.memtotal * _KIB
        if total < least:
            errors.append(
                f'node "{node}" does not meet memory requirements: expected at least '
                f"{least // MIB} MiB, actual {total // MIB} MiB"
            )
    if errors:
        raise Failing(listed_errors(errors))


async def disks_are_large_enough(checking: Checking) -> None:
    """EPHEMERAL of all nodes is as large as it needs to be."""
    try:
        await _versions(checking)
    except Failing as failing:
        if checking.asker.asks_one_by_one:
            raise
        raise Failing(f"error getting version: {failing}") from failing
    errors = []
    for node in sorted(one.address for one in checking.nodes.every):
        machine = checking.machine_at(node)
        partition = None if machine is None else system_partition(machine, EPHEMERAL)
        if partition is not None and partition.size < _LEAST_DISK:
            errors.append(
                f'ephemeral partition "{partition.path}" for node "{node}" is too small, '
                f"expected at least {_binary(_LEAST_DISK)}, actual {_binary(partition.size)}"
            )
    if errors:
        raise Failing(listed_errors(errors))


async def nothing_is_diagnosed(checking: Checking) -> None:
    """No node has anything to complain of: machines of the lab never do."""
    for node in checking.nodes.every:
        checking.machine_at(node.address)


async def all_booted(checking: Checking) -> None:
    """All nodes came to the end of their boot."""
    stages: dict[Stage, list[str]] = {}
    for node in checking.nodes.every:
        machine = checking.machine_at(node.address)
        if machine is not None and machine.state.stage is not Stage.RUNNING:
            stages.setdefault(machine.state.stage, []).append(node.address)
    if stages:
        order = list(Stage)
        told = ", ".join(
            f"{stage.value}: {plain(sorted(stages[stage]))}"
            for stage in sorted(stages, key=order.index)
        )
        raise Failing(f"nodes are not running: {told}")


def _skip_without_etcd(checking: Checking) -> None:
    """Since 1.14 the configuration is read first, which only admins may do."""
    if not checking.asker.asks_one_by_one:
        return
    if ADMIN not in checking.call.roles:
        raise Failing(_NOT_ALLOWED)
    config = checking.call.machine.config
    if config is None or not config.etcd_ca.crt:
        raise Skipped


async def _versions(checking: Checking) -> None:
    asker, nodes = checking.asker, [one.address for one in checking.nodes.every]
    if not asker.asks_one_by_one:
        await asker.all_nodes("Version", nodes)
        return
    errors = []
    for node in nodes:
        try:
            await asker.one_node("Version", node)
        except Failing as failing:
            errors.append(f'error getting version from node "{node}": {failing}')
    if errors:
        raise Failing("\n".join(errors))


async def _memory(checking: Checking) -> list[tuple[str, Dynamic]]:
    asker, nodes = checking.asker, [one.address for one in checking.nodes.every]
    if not asker.asks_one_by_one:
        try:
            return await asker.all_nodes("Memory", nodes)
        except Failing as failing:
            raise Failing(f"error getting nodes memory: {failing}") from failing
    return [(node, await asker.one_node("Memory", node)) for node in nodes]


async def _service_is_healthy(checking: Checking, service: str) -> None:
    found = []
    for node, message in await _service_lists(checking, service):
        found += [(node, one) for one in message.services if one.id == service]
    count = len(checking.nodes.controllers)
    if len(found) != count:
        raise Failing(f"expected a response with {count} node(s), got {len(found)}")
    errors = []
    for node, one in sorted(found, key=lambda pair: pair[0]):
        events = one.events.events
        if not events:
            errors.append(f'{node}: no events recorded yet for service "{service}"')
        elif events[-1].state != "Running":
            errors.append(
                f'{node}: service "{service}" not in expected state "Running": '
                f"current state [{events[-1].state}] {events[-1].msg}"
            )
        elif not one.health.healthy:
            errors.append(f"{node}: service is not healthy: {service}")
    if errors:
        raise Failing(listed_errors(errors))


async def _service_lists(checking: Checking, service: str) -> list[tuple[str, Dynamic]]:
    asker, nodes = checking.asker, [controller.address for controller in checking.nodes.controllers]
    if not asker.asks_one_by_one:
        return await asker.all_nodes("ServiceList", nodes)
    service_lists = []
    for node in nodes:
        try:
            service_lists.append((node, await asker.one_node("ServiceList", node)))
        except Failing as failing:
            told = f'error getting service info for service "{service}" from node "{node}"'
            raise Failing(f"{told}: {failing}") from failing
    return service_lists


def _member(member: Dynamic) -> tuple[str, int, bool]:
    return member.hostname, member.id, member.is_learner


def _binary(size: int) -> str:
    """A size as Go programs print it: `3.8 GiB`."""
    value, unit = float(size), "B"
    for name in ("KiB", "MiB", "GiB", "TiB"):
        if value < _KIB:
            break
        value, unit = value / _KIB, name
    return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
