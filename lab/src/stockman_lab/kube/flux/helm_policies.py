"""What a HelmRelease wants to be done when something fails, and how long it waits."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stockman_lab.kube.objects import Object, part_of

_PARTS = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def seconds_of(text: object, otherwise: float) -> float:
    """Seconds of `1h30m`."""
    if not isinstance(text, str) or not text:
        return otherwise
    return sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(text))


def shown(seconds: float) -> str:
    """`5m0s`, as programs in Go write it."""
    hours, rest = divmod(int(seconds), 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"


@dataclass(frozen=True, slots=True)
class Policies:
    """Of one HelmRelease."""

    spec: Object
    status: Object

    def of(self, action: str) -> Object:
        """The part about an action: `install`, `upgrade`, `uninstall`, `rollback`."""
        return part_of(self.spec, action)

    def timeout(self, action: str) -> float:
        """How long an action may take."""
        seconds = seconds_of(self.spec.get("timeout"), 300.0)
        return seconds_of(self.of(action).get("timeout"), seconds)

    def waits(self, action: str) -> bool:
        return not self.of(action).get("disableWait")

    @property
    def interval(self) -> float:
        return seconds_of(self.spec.get("interval"), 3600.0)

    @property
    def last_action(self) -> str:
        return str(self.status.get("lastAttemptedReleaseAction") or "")

    def retry(self) -> float | None:
        """Seconds after which the last action is just done again; None: it is remedied."""
        strategy = part_of(self.of(self.last_action), "strategy") if self.last_action else {}
        if strategy.get("name") != "RetryOnFailure":
            return None
        return seconds_of(strategy.get("retryInterval"), 300.0)

    def failures(self, action: str) -> int:
        """How often an action failed."""
        return int(self.status.get(f"{action}Failures", 0))

    def is_exhausted(self, action: str) -> bool:
        """Whether an action failed too often to be tried again."""
        retries = int(part_of(self.of(action), "remediation").get("retries", 0))
        return 0 <= retries < self.failures(action)

    def remedies_last(self, action: str) -> bool:
        """Whether also the last failure is remedied."""
        remediation = part_of(self.of(action), "remediation")
        remediate_last_failure = remediation.get("remediateLastFailure")
        if remediate_last_failure is not None:
            return bool(remediate_last_failure)
        return action == "upgrade" and int(remediation.get("retries", 0)) > 0

    def remedy(self, action: str) -> str:
        """`uninstall` or `rollback`."""
        if action == "install":
            return "uninstall"
        return str(part_of(self.of(action), "remediation").get("strategy", "rollback"))
