"""The plan expected for the new files, and which of its changes are safe.

The list of changes that are safe in an adopted cluster is here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.change import Change, ChangeKind, ProxmoxChange
from stockman.planning.desired import DesiredState
from stockman.planning.kubernetes.changes import KubernetesChange
from stockman.planning.observed.systems import Observed
from stockman.planning.observed.talos import ObservedMachine, ObservedTalos
from stockman.planning.plan import compose_plan
from stockman.planning.talos.changes import ReconfigureChange
from stockman.planning.talos.desired import DesiredTalos
from stockman.planning.talos.refusals import parse_both_configs
from stockman.steps.base import Checkpoint
from stockman.steps.kubernetes.resources import ApplyNamespace, ApplySecret
from stockman.steps.step import Stage
from stockman.steps.vm.configure import ConfigureVm
from stockman.steps.vm.values import key_family
from stockman.talos.machine.masking import changed_paths, configuration_values

SAFE_KEYS: Mapping[str, str] = {
    "tags": "says whose the VM is",
    "description": "says whose the VM is",
    "citype": "is read at the next start, and is what it was",
}
"""VM keys that may change without effect inside the machine, with the reason."""
SAFE_IF_CONFIGURED: Mapping[str, re.Pattern[str]] = {
    "ipconfig": re.compile(r".*: addresses\[0\]\.address|machine\.network\..*addresses\[0\]"),
    "nameserver": re.compile(r"(ResolverConfig: |machine\.network\.)nameservers\[0\].*"),
}
"""Keys of the cloud-init drive that the machine configuration overrides, with their paths there. If
the configuration does not set them, a change takes effect at the next start."""
_OVERRULED = "is read at the next start, and the machine configuration overrules it"
SAFE_PLACES: Mapping[str, str] = {
    "HostnameConfig": "says the name that the machine has",
    "machine.network.hostname": "says the name that the machine has",
    "machine.install.": "is read when Talos is installed",
    "UnattendedInstallConfig": "is read when Talos is installed",
}
"""Prefixes of paths in a machine configuration that may change, with the reason."""
_SCHEDULING_KEY = "cluster.allowSchedulingOnControlPlanes"
_ALREADY_IN_EFFECT = "says what holds already"


@record
class ExpectedChange:
    """One change of the expected plan."""

    stage: Stage
    node: str
    """Empty: it belongs to no machine."""
    description: str
    why: str
    safe: str
    """Why the change has no effect. Empty: it may have one."""


def first_plan_files(cluster: str) -> tuple[ExpectedChange, ...]:
    """Return the changes that create files in a new directory, which every first plan contains."""
    safe = "writes files beside the others, and no system"
    rows = (
        (Stage.ACCESS, "rendered files of the repository", "nothing was rendered yet"),
        (Stage.TALOS, f"talosconfig of {cluster} is written", "it is not there yet"),
        (Stage.TALOS, f"kubeconfig of {cluster} is written", "it is not there yet"),
    )
    return tuple(
        ExpectedChange(stage=stage, node="", description=description, why=why, safe=safe)
        for stage, description, why in rows
    )


@record
class ExpectedPlan:
    """Changes and problems of the expected plan."""

    expected: tuple[ExpectedChange, ...]
    problems: Problems

    @property
    def unsafe(self) -> tuple[ExpectedChange, ...]:
        return tuple(change for change in self.expected if not change.safe)


def assess_plan(desired_state: DesiredState, observed: Observed, now: datetime) -> ExpectedPlan:
    """Plan the files of an adopted cluster, and find out which changes are safe."""
    composition = compose_plan(desired_state, observed, now)
    machines = _MachineValues(desired_state, observed.talos)
    return ExpectedPlan(
        expected=tuple(
            _describe_change(change, machines.reason(change)) for change in composition.changes
        ),
        problems=composition.problems,
    )


class _MachineValues:
    """Decides from the observed machines why changes have no effect."""

    def __init__(self, desired: DesiredState, observed: ObservedTalos | None) -> None:
        self._desired = DesiredTalos(desired=desired.desired, configurations=desired.configurations)
        self._observed = observed

    def reason(self, change: Change) -> str:
        """Return why a change has no effect. Empty: it may have one."""
        if isinstance(change, ProxmoxChange):
            return self._of_vm(change)
        if isinstance(change, KubernetesChange):
            return _object_reason(change)
        if isinstance(change, ReconfigureChange) and not change.boot_id:
            return self._of_machine(change.node)
        return ""

    def _of_vm(self, change: ProxmoxChange) -> str:
        if change.stage is Stage.ACCESS:
            return "gives rights to a token, and takes none away"
        keys: list[str] = []
        for step in change.steps:
            if not isinstance(step.action, ConfigureVm) or step.action.delete:
                return ""
            keys += step.action.values
        overruled = self._overridden_keys(change.node)
        reasons = [
            _OVERRULED if key_family(key) in overruled else SAFE_KEYS.get(key_family(key), "")
            for key in keys
        ]
        return _join_reasons(reasons)

    def _machine(self, name: str) -> ObservedMachine | None:
        return self._observed.machine(name) if self._observed is not None else None

    def _overridden_keys(self, name: str) -> frozenset[str]:
        """Return VM keys that the machine configuration overrides."""
        machine = self._machine(name)
        if machine is None or machine.configuration is None or machine.version is None:
            return frozenset()
        minor = Version.parse(machine.version).minor_text
        effective = configuration_values(machine.configuration, minor).values
        return frozenset(
            key
            for key, value_path in SAFE_IF_CONFIGURED.items()
            if any(value_path.fullmatch(path) for path in effective)
        )

    def _of_machine(self, name: str) -> str:
        node = next(node for node in self._desired.desired.nodes if str(node.name) == name)
        machine = self._machine(name)
        before, after = (
            parse_both_configs(self._desired, node, machine)
            if machine is not None
            else (None, None)
        )
        if before is None or after is None:
            return ""
        reasons = []
        for path in changed_paths(before, after):
            texts = (
                path == _SCHEDULING_KEY
                and path not in before.values
                and after.values[path] is False
            )
            known = (why for start, why in SAFE_PLACES.items() if path.startswith(start))
            reasons.append(_ALREADY_IN_EFFECT if texts else next(known, ""))
        return _join_reasons(reasons)


def _object_reason(change: KubernetesChange) -> str:
    if isinstance(change.action, Checkpoint):
        return "only waits"
    if isinstance(change.action, ApplyNamespace | ApplySecret) and change.mark is ChangeKind.ADD:
        return "is not there yet, and nothing reads it"
    return ""


def _join_reasons(reasons: list[str]) -> str:
    """Join all reasons; empty if any of them is empty."""
    return "; ".join(dict.fromkeys(reasons)) if reasons and all(reasons) else ""


def _describe_change(change: Change, safe: str) -> ExpectedChange:
    return ExpectedChange(
        stage=change.stage, node=change.node, description=change.what, why=change.why, safe=safe
    )


def mentions_guest(problem: Problem, name: str) -> bool:
    """Whether a problem is about a guest."""
    return name in problem.what or name in problem.why
