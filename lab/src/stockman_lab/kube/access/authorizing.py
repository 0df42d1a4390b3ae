"""Whether somebody may do something, and what they may at all."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.access.authenticating import MASTERS
from stockman_lab.kube.access.roles import roles_of
from stockman_lab.kube.access.rules import Rule
from stockman_lab.kube.api.messages import User
from stockman_lab.kube.store.store import Store

_ALWAYS = frozenset({"/healthz", "/livez", "/readyz"})
"""Paths that everybody is answered, so that others can see whether the server is well."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided."""

    allowed: bool
    reason: str = ""


class Authorization:
    """Decides by roles; masters may do everything."""

    def __init__(self, store: Store) -> None:
        self.roles = roles_of(store)

    def decide(self, asked: Attributes) -> Decision:
        """Whether somebody may do something."""
        if MASTERS in asked.user.groups or asked.path in _ALWAYS:
            return Decision(True)
        by = self.roles.allows(asked)
        return Decision(False) if by is None else Decision(True, by)

    def rules(self, user: User, namespace: str) -> list[Rule]:
        """What somebody may do in a namespace."""
        return [one.rule for one in self.roles.held(user, namespace)]
