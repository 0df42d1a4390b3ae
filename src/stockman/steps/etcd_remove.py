"""A member of etcd whose machine is gone."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from stockman.model.errors import NotFound, Refused, Uncertain
from stockman.model.record import record
from stockman.steps import talos_problems as problems
from stockman.steps.base import Action
from stockman.steps.etcd_leave import is_member, told
from stockman.steps.etcd_view import etcd_answer
from stockman.steps.ports import Ports
from stockman.steps.talos_machine import TalosMachine


@record
class RemoveMember(Action):
    """Take a dead member out of etcd, by its id."""

    kind: ClassVar[str] = "etcd.remove-member"
    member: str
    """Its id, 16 hex digits."""
    hostname: str
    """Empty: it never started."""
    others: tuple[TalosMachine, ...]
    """Controllers that stay: one of them is asked to do it."""
    machine: TalosMachine | None = None
    """Where it ran. None: not known any more."""

    @property
    def summary(self) -> str:
        return f"remove member {self.member} ({self.hostname or 'never started'}) from etcd"

    @property
    def touches(self) -> tuple[str, ...]:
        return ("etcd",)

    @property
    def destroys(self) -> str:
        return f"etcd member {self.member} ({self.hostname or 'never started'})"

    async def done(self, ports: Ports) -> bool:
        return not is_member(await told(ports, self.others), self.member)

    async def run(self, ports: Ports) -> None:
        view = await told(ports, self.others)
        if not is_member(view, self.member):
            return
        talos = ports.to_talos()
        answers = list(view.answers)
        if self.machine is not None:
            answers.append(await etcd_answer(talos, self.machine))
        for one in answers:
            if one.status is not None and f"{one.status.member:016x}" == self.member:
                raise Refused(problems.member_lives(self.member, self.hostname))
        asked = next(one.node for one in view.answers if one.members)
        address = next(one.address for one in self.others if one.node == asked)
        # Gone by somebody else, or seen by the next look.
        with suppress(NotFound, Uncertain):
            await talos.remove_etcd_member(address, int(self.member, 16))
