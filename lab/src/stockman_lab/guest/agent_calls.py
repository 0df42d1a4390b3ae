"""Calls of Proxmox VE that take several questions to an agent, and what it makes of the answers."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import TypeAlias

from stockman_lab.guest.system import AgentError

Ask: TypeAlias = Callable[[str, dict[str, object]], object]
"""Asks the agent of one guest: a command and its arguments."""


class AgentRefused(Exception):
    """A call that the agent refused; its text is that of Proxmox VE."""


def plain_answer(ask: Ask, command: str) -> object:
    """The answer to a command without arguments: a refusal is passed on as if it were one."""
    try:
        return ask(command, {})
    except AgentError as error:
        return error.answer


def execute(ask: Ask, command: list[str], given: str | None = None) -> object:
    """Start a program; returns its number."""
    arguments: dict[str, object] = {"capture-output": True}
    if command:
        arguments |= {"path": command[0], "arg": command[1:]}
    if given is not None:
        arguments["input-data"] = base64.b64encode(given.encode()).decode()
    return _answer(ask, "exec", arguments)


def execution(ask: Ask, pid: int) -> dict[str, object]:
    """How a program is doing, with texts decoded and 1 and 0 for true and false."""
    fields = dict(_fields(ask, "exec-status", {"pid": pid}))
    for name, value in fields.items():
        if name.endswith("-data"):
            fields[name] = base64.b64decode(str(value)).decode("utf-8", "replace")
        elif isinstance(value, bool):
            fields[name] = int(value)
    return fields


def _answer(ask: Ask, command: str, arguments: dict[str, object]) -> object:
    try:
        return ask(command, arguments)
    except AgentError as error:
        raise AgentRefused(f"Agent error: {error.text}") from None


def _fields(ask: Ask, command: str, arguments: dict[str, object]) -> Mapping[str, object]:
    answer = _answer(ask, command, arguments)
    return answer if isinstance(answer, Mapping) else {}
