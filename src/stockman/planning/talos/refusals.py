"""What speaks against changing machines: none of these is guessed away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.model.desired import Node
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.planning.observed.talos import ObservedMachine, ObservedTalos
from stockman.planning.talos.desired import DesiredTalos, talos_machine
from stockman.steps.talos import problems
from stockman.steps.talos.gates import ALLOWED_SKEW
from stockman.steps.talos.machine import MachineState
from stockman.talos.machine.values import ConfigurationValues, changed_paths, configuration_values
from stockman.talos.schematic import desired_schematic_id

KUBERNETES_IMAGES = (
    "machine.kubelet.image",
    "cluster.apiServer.image",
    "cluster.controllerManager.image",
    "cluster.proxy.image",
    "cluster.scheduler.image",
    "KubeletConfig: image",
    "KubeAPIServerConfig: image",
    "KubeControllerManagerConfig: image",
    "KubeProxyConfig: image",
    "KubeSchedulerConfig: image",
)
_UPGRADE = "node.upgrade"
_TUPPR = "tuppr"
"""Upgrades what the pushed commit says, when it thinks fit."""
_TIME = ("machine.time", "TimeSyncConfig")
_KERNEL_ARGUMENTS = "machine.install.extraKernelArgs"


def find_refusals(wish: DesiredTalos, observed: ObservedTalos) -> tuple[Problem, ...]:
    """All problems; warnings are about machines of which nothing is known, and left alone."""
    found: list[Problem] = []
    for node in wish.desired.nodes:
        seen = observed.machine(str(node.name))
        if seen is not None and str(node.name) not in wish.fresh:
            found += _machine_refusals(wish, node, seen)
    found += _etcd_refusals(wish, observed)
    if observed.api_taken:
        found.append(problems.address_in_use(wish.shared_address, observed.api_taken))
    return tuple(found)


def nodes_with_refusals(wish: DesiredTalos, observed: ObservedTalos) -> frozenset[str]:
    """Nodes that nothing may be done to."""
    return frozenset(
        str(node.name)
        for node in wish.desired.nodes
        if str(node.name) not in wish.fresh
        and (seen := observed.machine(str(node.name))) is not None
        and any(_is_excluded(one) for one in _machine_refusals(wish, node, seen))
    )


def _is_excluded(problem: Problem) -> bool:
    """Whether a machine is left alone: also one that somebody else upgrades right now."""
    return problem.is_error or problem.code == _UPGRADE


def _machine_refusals(wish: DesiredTalos, node: Node, seen: ObservedMachine) -> Iterator[Problem]:
    match seen.standing:
        case MachineState.FOREIGN:
            yield problems.foreign_machine(seen.node, seen.address, seen.why)
        case MachineState.SILENT | MachineState.BOOTING:
            unknown = problems.machine_unreachable(seen.node, seen.address, seen.why or "no answer")
            yield replace(unknown, severity=Severity.WARNING)
        case MachineState.MAINTENANCE:
            yield from _identity_refusals(node, seen)
            yield from _image_refusals(wish, node, seen)
        case MachineState.CONFIGURED:
            yield from _config_refusals(wish, node, seen)


def _identity_refusals(node: Node, seen: ObservedMachine) -> Iterator[Problem]:
    wanted = talos_machine(node)
    if seen.uuid is not None and wanted.uuid is not None and seen.uuid != wanted.uuid:
        why = f"its UUID is {seen.uuid}, and that of {node.name} is {wanted.uuid}"
        yield problems.machine_identity_mismatch(seen.node, seen.address, why)
        return
    if seen.macs is None:
        return
    has = {mac.lower() for mac in seen.macs}
    for mac in wanted.macs:
        if mac.lower() not in has:
            why = f"it has no card {mac}; its cards are {', '.join(sorted(has)) or 'none'}"
            yield problems.machine_identity_mismatch(seen.node, seen.address, why)
            return


def _image_refusals(wish: DesiredTalos, node: Node, seen: ObservedMachine) -> Iterator[Problem]:
    wanted = wish.cluster.talos.version.tagged
    if node.vm is not None and seen.version is not None and seen.version != wanted:
        yield problems.image_too_old(seen.node, seen.address, seen.version, wanted)


def _config_refusals(wish: DesiredTalos, node: Node, seen: ObservedMachine) -> Iterator[Problem]:
    before, after = parse_both_configs(wish, node, seen)
    if before is not None and after is not None and before.authority != after.authority:
        why = "the authority of its certificates is not that of this cluster"
        yield problems.foreign_machine(seen.node, seen.address, why)
        return
    if found := list(_identity_refusals(node, seen)):
        yield from found
        return
    if seen.skew is not None and abs(seen.skew) > ALLOWED_SKEW:
        server = seen.time_server or "its time server"
        wrong = problems.clock_skew(seen.node, seen.skew, ALLOWED_SKEW, server)
        yield (
            replace(wrong, severity=Severity.WARNING)
            if _time_servers_differ(before, after)
            else wrong
        )
    if seen.hostname and seen.hostname != str(node.name):
        yield problems.hostname_mismatch(seen.node, seen.address, seen.hostname)
        return
    found = [*_version_refusals(wish, node, seen)]
    if before is not None and after is not None:
        found += _value_refusals(node, before, after)
    for one in found:
        is_of_others = one.code == _UPGRADE and wish.desired.upgrade.engine == _TUPPR
        yield replace(one, severity=Severity.WARNING) if is_of_others else one


def _version_refusals(wish: DesiredTalos, node: Node, seen: ObservedMachine) -> Iterator[Problem]:
    wanted = wish.cluster.talos.version
    if seen.version is not None and Version.parse(seen.version) != wanted:
        yield problems.version_mismatch(seen.node, "Talos", seen.version, wanted.tagged)
    schematic = desired_schematic_id(node.schematic, Problems())
    if seen.schematic and schematic and seen.schematic != schematic:
        runs, wished = seen.schematic[:12], schematic[:12]
        yield problems.version_mismatch(seen.node, "schematic", runs, wished)


def _value_refusals(
    node: Node, before: ConfigurationValues, after: ConfigurationValues
) -> Iterator[Problem]:
    name = str(node.name)
    if before.role != after.role:
        yield problems.role_mismatch(name, before.role, after.role)
    paths = changed_paths(before, after)
    for path in KUBERNETES_IMAGES:
        if path in paths and path in before.values and path in after.values:
            runs, wanted = str(before.values[path]), str(after.values[path])
            yield problems.version_mismatch(name, "Kubernetes", runs, wanted)
            return
    for path in paths:
        if path.startswith(_KERNEL_ARGUMENTS):
            has, wished = before.values.get(path, "none"), after.values.get(path, "none")
            yield problems.version_mismatch(name, "kernel argument", str(has), str(wished))
            return


def _time_servers_differ(
    before: ConfigurationValues | None, after: ConfigurationValues | None
) -> bool:
    """Whether a machine is told other time servers, which may be what puts its clock right."""
    if before is None or after is None:
        return False
    return any(path.startswith(_TIME) for path in changed_paths(before, after))


def parse_both_configs(
    wish: DesiredTalos, node: Node, seen: ObservedMachine
) -> tuple[ConfigurationValues | None, ConfigurationValues | None]:
    """The configuration that a machine has, and the one that it should have, as it reads them.

    None: not known, or nothing that its version could read.
    """
    minor = Version.parse(seen.version).minor_text if seen.version else wish.minor
    wanted = wish.configurations.get(str(node.name))
    return (
        _parse_config(seen.configuration, minor) if seen.configuration is not None else None,
        _parse_config(wanted, minor) if wanted is not None else None,
    )


def _parse_config(text: Secret, minor: str) -> ConfigurationValues | None:
    try:
        return configuration_values(text, minor)
    except StockmanError:
        return None


def _etcd_refusals(wish: DesiredTalos, observed: ObservedTalos) -> Iterator[Problem]:
    view = observed.etcd
    if view.split:
        yield problems.split_etcd(view.split)
        return
    known = {str(node.name) for node in wish.controllers} | set(wish.leaving)
    for member in view.members:
        if member.hostname not in known:
            stranger = problems.unknown_etcd_member(member.hex, member.hostname)
            yield replace(stranger, severity=Severity.WARNING)
