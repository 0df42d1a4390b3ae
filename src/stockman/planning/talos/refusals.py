"""Reasons not to change machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

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
from stockman.talos.machine.masking import ConfigurationValues, changed_paths, configuration_values
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
"""An upgrade tool that follows the pushed commit and picks its own time."""
_TIME = ("machine.time", "TimeSyncConfig")
_KERNEL_ARGUMENTS = "machine.install.extraKernelArgs"


def find_refusals(desired: DesiredTalos, observed: ObservedTalos) -> tuple[Problem, ...]:
    """Return all problems; warnings are about unknown machines, which are left alone."""
    refusals: list[Problem] = []
    for node in desired.desired.nodes:
        machine = observed.machine(str(node.name))
        if machine is not None and str(node.name) not in desired.fresh:
            refusals += _machine_refusals(desired, observed, node, machine)
    refusals += _etcd_refusals(desired, observed)
    if observed.api_taken:
        refusals.append(problems.address_in_use(desired.shared_address, observed.api_taken))
    return tuple(refusals)


def nodes_with_refusals(desired: DesiredTalos, observed: ObservedTalos) -> frozenset[str]:
    """Return nodes that must not be changed."""
    return frozenset(
        str(node.name)
        for node in desired.desired.nodes
        if str(node.name) not in desired.fresh
        and (proxmox := observed.machine(str(node.name))) is not None
        and any(
            _is_excluded(problem) for problem in _machine_refusals(desired, observed, node, proxmox)
        )
    )


def _is_excluded(problem: Problem) -> bool:
    """Whether a machine is left alone, also because another tool upgrades it."""
    return problem.is_error or problem.code == _UPGRADE


def _machine_refusals(
    desired: DesiredTalos, observed: ObservedTalos, node: Node, machine: ObservedMachine
) -> Iterator[Problem]:
    match machine.standing:
        case MachineState.FOREIGN:
            yield problems.foreign_machine(machine.node, machine.address, machine.why)
        case MachineState.SILENT | MachineState.BOOTING:
            unknown = problems.machine_unreachable(
                machine.node, machine.address, machine.why or "no answer"
            )
            yield replace(unknown, severity=Severity.WARNING)
        case MachineState.MAINTENANCE:
            if refusal := _first_config_refusal(desired, observed, node, machine):
                yield refusal
                return
            yield from _identity_refusals(node, machine)
            yield from _image_refusals(desired, node, machine)
        case MachineState.CONFIGURED:
            yield from _config_refusals(desired, node, machine)


def _first_config_refusal(
    desired: DesiredTalos, observed: ObservedTalos, node: Node, machine: ObservedMachine
) -> Problem | None:
    """Return why a machine in maintenance mode gets no configuration: it would get all secrets."""
    name = str(node.name)
    member = observed.etcd.member_of(name)
    if member is not None:
        return problems.first_config_of_member(name, machine.address, member.hex)
    if name in desired.new or name in desired.confirmed:
        return None
    if node.vm is None:
        why = "stockman did not create this machine"
    elif desired.cluster.talos.platform != "nocloud":
        why = f"machines of the platform {desired.cluster.talos.platform} read no NoCloud image"
    else:
        why = f"VM {node.vm.vmid} was configured before, or was not created by stockman"
    return problems.first_config_unconfirmed(name, machine.address, why)


def _identity_refusals(node: Node, machine: ObservedMachine) -> Iterator[Problem]:
    expected = talos_machine(node)
    if machine.uuid is not None and expected.uuid is not None and machine.uuid != expected.uuid:
        why = f"its UUID is {machine.uuid}, expected {expected.uuid}"
        yield problems.machine_identity_mismatch(machine.node, machine.address, why)
        return
    if machine.macs is None:
        return
    has = {mac.lower() for mac in machine.macs}
    for mac in expected.macs:
        if mac.lower() not in has:
            why = f"it has no network card {mac}; its cards are {', '.join(sorted(has)) or 'none'}"
            yield problems.machine_identity_mismatch(machine.node, machine.address, why)
            return


def _image_refusals(
    desired: DesiredTalos, node: Node, machine: ObservedMachine
) -> Iterator[Problem]:
    version = desired.cluster.talos.version.tagged
    if node.vm is not None and machine.version is not None and machine.version != version:
        yield problems.image_too_old(machine.node, machine.address, machine.version, version)


def _config_refusals(
    desired: DesiredTalos, node: Node, machine: ObservedMachine
) -> Iterator[Problem]:
    before, after = parse_both_configs(desired, node, machine)
    if before is not None and after is not None and before.authority != after.authority:
        why = "its certificate authority is not that of this cluster"
        yield problems.foreign_machine(machine.node, machine.address, why)
        return
    if mismatches := list(_identity_refusals(node, machine)):
        yield from mismatches
        return
    if machine.skew is not None and abs(machine.skew) > ALLOWED_SKEW:
        server = machine.time_server or "its time server"
        wrong = problems.clock_skew(machine.node, machine.skew, ALLOWED_SKEW, server)
        yield (
            replace(wrong, severity=Severity.WARNING)
            if _time_servers_differ(before, after)
            else wrong
        )
    if machine.hostname and machine.hostname != str(node.name):
        yield problems.hostname_mismatch(machine.node, machine.address, machine.hostname)
        return
    mismatches = [*_version_refusals(desired, node, machine)]
    if before is not None and after is not None:
        mismatches += _value_refusals(node, before, after)
    for problem in mismatches:
        is_of_others = problem.code == _UPGRADE and desired.desired.upgrade.engine == _TUPPR
        yield replace(problem, severity=Severity.WARNING) if is_of_others else problem


def _version_refusals(
    desired: DesiredTalos, node: Node, machine: ObservedMachine
) -> Iterator[Problem]:
    version = desired.cluster.talos.version
    if machine.version is not None and Version.parse(machine.version) != version:
        yield problems.version_mismatch(machine.node, "Talos", machine.version, version.tagged)
    schematic = desired_schematic_id(node.schematic, Problems())
    if machine.schematic and schematic and machine.schematic != schematic:
        runs, desired_schematic = machine.schematic[:12], schematic[:12]
        yield problems.version_mismatch(machine.node, "schematic", runs, desired_schematic)


def _value_refusals(
    node: Node, before: ConfigurationValues, after: ConfigurationValues
) -> Iterator[Problem]:
    name = str(node.name)
    if before.role != after.role:
        yield problems.role_mismatch(name, before.role, after.role)
    paths = changed_paths(before, after)
    for path in KUBERNETES_IMAGES:
        if path in paths and path in before.values and path in after.values:
            runs, configured = str(before.values[path]), str(after.values[path])
            yield problems.version_mismatch(name, "Kubernetes", runs, configured)
            return
    for path in paths:
        if path.startswith(_KERNEL_ARGUMENTS):
            has, expected = before.values.get(path, "none"), after.values.get(path, "none")
            yield problems.version_mismatch(name, "kernel argument", str(has), str(expected))
            return


def _time_servers_differ(
    before: ConfigurationValues | None, after: ConfigurationValues | None
) -> bool:
    """Whether the time servers of a machine differ, which may explain its clock."""
    if before is None or after is None:
        return False
    return any(path.startswith(_TIME) for path in changed_paths(before, after))


def parse_both_configs(
    desired: DesiredTalos, node: Node, observed: ObservedMachine
) -> tuple[ConfigurationValues | None, ConfigurationValues | None]:
    """Return the active and the desired configuration of a machine, as its version reads them.

    None: unknown, or not readable for its version.
    """
    minor = Version.parse(observed.version).minor_text if observed.version else desired.minor
    text = desired.configurations.get(str(node.name))
    return (
        _parse_config(observed.configuration, minor)
        if observed.configuration is not None
        else None,
        _parse_config(text, minor) if text is not None else None,
    )


def _parse_config(text: Secret, minor: str) -> ConfigurationValues | None:
    try:
        return configuration_values(text, minor)
    except StockmanError:
        return None


def _etcd_refusals(desired: DesiredTalos, observed: ObservedTalos) -> Iterator[Problem]:
    view = observed.etcd
    if view.split:
        yield problems.split_etcd(view.split)
        return
    addresses = {str(node.name): str(node.address.ip) for node in desired.controllers}
    addresses |= {name: str(address) for name, address in desired.leaving.items()}
    for member in view.members:
        hosts = {urlsplit(url).hostname for url in member.peer_urls}
        # A member that joins has no name until its etcd runs.
        if member.hostname in addresses or not hosts.isdisjoint(addresses.values()):
            continue
        unknown = problems.unknown_etcd_member(member.hex, member.hostname)
        if member.is_learner or not member.hostname:
            unknown = problems.joining_etcd_member(member.hex, ", ".join(member.peer_urls))
        yield replace(unknown, severity=Severity.WARNING)
