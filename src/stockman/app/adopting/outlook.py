"""What a plan would say of the new files: a look at everything once more, and no guess.

What an adopted cluster may be changed in is listed here, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stockman.app.adopting.looking import Doors
from stockman.app.observing import Looked, observe
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.change import Change, Mark
from stockman.planning.composition import composed
from stockman.planning.kube_stage import KubernetesChange
from stockman.planning.observed_talos import ObservedMachine, ObservedTalos
from stockman.planning.proxmox_change import ProxmoxChange
from stockman.planning.talos_changes import Reconfigure
from stockman.planning.talos_refusals import compared
from stockman.planning.talos_wish import TalosWish
from stockman.planning.wishes import Wishes
from stockman.ports.entropy import Entropy
from stockman.steps.checkpoint import Checkpoint
from stockman.steps.kube_namespace import MakeNamespace
from stockman.steps.kube_secret import ApplySecret
from stockman.steps.ports import Ports
from stockman.steps.step import Stage
from stockman.steps.vm_configure import ConfigureVm
from stockman.steps.vm_values import family
from stockman.talos.machine.values import configuration_values, differing

SAFE_KEYS: Mapping[str, str] = {
    "tags": "says whose the VM is",
    "description": "says whose the VM is",
    "citype": "is read at the next start, and is what it was",
}
"""Keys of a VM that may change without anything inside noticing, with the reason."""
SAFE_WHERE_SAID: Mapping[str, re.Pattern[str]] = {
    "ipconfig": re.compile(r".*: addresses\[0\]\.address|machine\.network\..*addresses\[0\]"),
    "nameserver": re.compile(r"(ResolverConfig: |machine\.network\.)nameservers\[0\].*"),
}
"""Keys that a machine is told before it reads its configuration, with the places there that say the
same; where nothing stands at those, a change would be noticed at the next start."""
_OVERRULED = "is read at the next start, and the machine configuration overrules it"
SAFE_PLACES: Mapping[str, str] = {
    "HostnameConfig": "says the name that the machine has",
    "machine.network.hostname": "says the name that the machine has",
    "machine.install.": "is read when Talos is installed",
    "UnattendedInstallConfig": "is read when Talos is installed",
}
"""Beginnings of places in a machine configuration that may change, with the reason."""
_SAID = "cluster.allowSchedulingOnControlPlanes"
_ALREADY = "says what holds already"


@record
class Expected:
    """One change that a plan would contain."""

    stage: Stage
    node: str
    """Empty: of no machine."""
    what: str
    why: str
    safe: str
    """Why nothing notices it. Empty: something may."""


def files_expected(cluster: str) -> tuple[Expected, ...]:
    """What a first plan of a new directory contains besides: its own files."""
    safe = "writes files beside the others, and no system"
    rows = (
        (Stage.ACCESS, "rendered files of the repository", "nothing was rendered yet"),
        (Stage.TALOS, f"talosconfig of {cluster} is written", "it is not there yet"),
        (Stage.TALOS, f"kubeconfig of {cluster} is written", "it is not there yet"),
    )
    return tuple(
        Expected(stage=stage, node="", what=what, why=why, safe=safe) for stage, what, why in rows
    )


@record
class Outlook:
    """What a plan would say."""

    expected: tuple[Expected, ...]
    problems: Problems

    @property
    def unsafe(self) -> tuple[Expected, ...]:
        return tuple(one for one in self.expected if not one.safe)


async def outlook(wishes: Wishes, doors: Doors, entropy: Entropy) -> Outlook:
    """Plan with the doors that there are, as `stockman plan` does; nothing is changed."""
    desired = wishes.desired
    ports = Ports(
        clock=doors.clock,
        entropy=entropy,
        proxmox={str(one.region): doors.proxmox for one in desired.proxmox},
        talos=doors.talos,
        kubernetes=doors.kubernetes,
    )
    seen = await observe(Looked(desired=desired, kubernetes=wishes.kubernetes), ports)
    found = composed(wishes, seen, doors.clock.now())
    machines = _Machines(wishes, seen.talos)
    return Outlook(
        expected=tuple(_expected(one, machines.reason(one)) for one in found.changes),
        problems=found.problems,
    )


class _Machines:
    """Why changes are not noticed, told by what the machines have."""

    def __init__(self, wishes: Wishes, seen: ObservedTalos | None) -> None:
        self._wish = TalosWish(desired=wishes.desired, configurations=wishes.configurations)
        self._seen = seen

    def reason(self, change: Change) -> str:
        """Empty: something may notice it."""
        if isinstance(change, ProxmoxChange):
            return self._of_vm(change)
        if isinstance(change, KubernetesChange):
            return _of_object(change)
        if isinstance(change, Reconfigure) and not change.boot_id:
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
        overruled = self._overruled(change.node)
        reasons = [
            _OVERRULED if family(key) in overruled else SAFE_KEYS.get(family(key), "")
            for key in keys
        ]
        return _joined(reasons)

    def _machine(self, name: str) -> ObservedMachine | None:
        return self._seen.machine(name) if self._seen is not None else None

    def _overruled(self, name: str) -> frozenset[str]:
        """Keys of a VM that mean nothing to the machine in it."""
        machine = self._machine(name)
        if machine is None or machine.configuration is None or machine.version is None:
            return frozenset()
        minor = Version.parse(machine.version).minor_text
        places = configuration_values(machine.configuration, minor).values
        return frozenset(
            key
            for key, place in SAFE_WHERE_SAID.items()
            if any(place.fullmatch(path) for path in places)
        )

    def _of_machine(self, name: str) -> str:
        node = next(one for one in self._wish.desired.nodes if str(one.name) == name)
        seen = self._machine(name)
        before, after = compared(self._wish, node, seen) if seen is not None else (None, None)
        if before is None or after is None:
            return ""
        reasons = []
        for path in differing(before, after):
            said = path == _SAID and path not in before.values and after.values[path] is False
            known = (why for start, why in SAFE_PLACES.items() if path.startswith(start))
            reasons.append(_ALREADY if said else next(known, ""))
        return _joined(reasons)


def _of_object(change: KubernetesChange) -> str:
    if isinstance(change.action, Checkpoint):
        return "only waits"
    if isinstance(change.action, MakeNamespace | ApplySecret) and change.mark is Mark.ADD:
        return "is not there yet, and nothing reads it"
    return ""


def _joined(reasons: list[str]) -> str:
    """All reasons; none where something has none."""
    return "; ".join(dict.fromkeys(reasons)) if reasons and all(reasons) else ""


def _expected(change: Change, safe: str) -> Expected:
    return Expected(
        stage=change.stage, node=change.node, what=change.what, why=change.why, safe=safe
    )


def speaks_of(problem: Problem, name: str) -> bool:
    """Whether a problem is about a guest."""
    return name in problem.what or name in problem.why
