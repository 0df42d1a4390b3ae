"""Print the data of a command, as text or in an envelope for programs; its exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, IntEnum
from typing import Any, TypeVar

from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import escape_control

API_VERSION = "stockman/v1"

T = TypeVar("T")

Human = Callable[[T, Screen], Iterable[str]]
"""Formats a value as lines that fit the screen."""


class Output(Enum):
    """Values of `-o`."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


def envelope(kind: str, value: object) -> dict[str, Any]:
    """Return a value in the envelope used for JSON and YAML."""
    from stockman.model.record import to_plain_value

    return {"apiVersion": API_VERSION, "kind": kind, "data": to_plain_value(value)}


def show(
    value: T,
    *,
    kind: str,
    output: Output,
    human: Human[T],
    names: Callable[[T], Iterable[str]] | None = None,
) -> None:
    """Print a value to stdout; `names` returns the lines for `-o name`."""
    screen = current_screen()
    match output:
        case Output.JSON:
            screen.data(_json(envelope(kind, value), screen))
        case Output.YAML:
            screen.document(_yaml(envelope(kind, value), screen))
        case Output.NAME if names is not None:
            _print_lines(screen, (escape_control(name) for name in names(value)))
        case _:
            _print_lines(screen, human(value, screen))


def _print_lines(screen: Screen, lines: Iterable[str]) -> None:
    text = "\n".join(lines)
    if text:
        screen.data(text)


def _json(document: dict[str, Any], screen: Screen) -> str:
    import json

    return json.dumps(document, indent=2, ensure_ascii=not screen.supports_unicode)


def _yaml(document: dict[str, Any], screen: Screen) -> str:
    from stockman.config.writers.yaml_writer import render_yaml

    text = render_yaml(document).removesuffix("\n")
    if text.isascii() or screen.supports_unicode:
        return text
    return _json(document, screen)  # JSON is valid YAML and can escape every character


class Exit(IntEnum):
    """Every exit status of a command, with its meaning."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    DONE = 0, "done, or nothing to do"
    FAILED = 1, "failed"
    CHANGES = 2, "changes pending"
    REFUSED = 3, "a gate refused"
    PARTLY = 4, "partly done"
    USAGE = 64, "wrong usage"
    INTERRUPTED = 130, "interrupted"
    PIPE_CLOSED = 141, "the reader of the output closed it"
