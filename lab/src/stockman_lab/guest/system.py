"""The protocol between a machine and what runs inside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from stockman_lab.guest.view import GuestView


class Throws(Protocol):
    """Dice of the world."""

    def between(self, low: float, high: float) -> float:
        """A number of a range."""
        ...


class AgentError(Exception):
    """What an agent answers instead of a result, in its own words."""

    def __init__(self, text: str, kind: str = "GenericError") -> None:
        super().__init__(text)
        self.text = text
        self.kind = kind

    @property
    def answer(self) -> dict[str, object]:
        """As it goes over the wire; Proxmox VE passes it on as a result."""
        return {"error": {"class": self.kind, "desc": self.text}}


class GuestSystem(Protocol):
    """What runs inside a virtual machine, from the moment that it boots until power is gone.

    Moments are seconds since 1970 in the world. It holds nothing that is not in what it saves.
    """

    @property
    def kind(self) -> str:
        """Under which name what it saves is loaded again."""
        ...

    def booted(self, view: GuestView, now: float, dice: Throws) -> None:
        """The machine was switched on, or reset."""
        ...

    def changed(self, view: GuestView, now: float) -> None:
        """Something was plugged in, pulled out or made larger while it runs."""
        ...

    def shutdown(self, now: float, dice: Throws) -> float | None:
        """The power button was pressed: seconds until it is off. None: it does not care."""
        ...

    def lost_power(self, now: float) -> None:
        """The machine is off, whatever it was doing."""
        ...

    def agent_is_up(self, now: float) -> bool:
        """Whether an agent answers."""
        ...

    def ask(self, command: str, arguments: Mapping[str, object], now: float) -> object:
        """The agent's answer to a command, `get-osinfo`; raises `AgentError`.

        `shutdown` and `suspend-*` are answered and change nothing: the machine does those.
        """
        ...

    def saved(self) -> dict[str, object]:
        """All that it knows, as JSON."""
        ...


Ask: TypeAlias = Callable[[str, dict[str, object]], object]
"""Asks the agent of one guest: a command and its arguments."""


def plain_answer(ask: Ask, command: str) -> object:
    """The answer to a command without arguments: a refusal is passed on as if it were one."""
    try:
        return ask(command, {})
    except AgentError as error:
        return error.answer
