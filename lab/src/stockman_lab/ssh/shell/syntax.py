"""Commands of the shell, read and not yet run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as they are."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`, `${name}` or `${name:-default}`; `@` stands for all arguments."""

    name: str
    quoted: bool
    default: Word | None = None
    """In place of nothing, or of an empty text."""


@dataclass(frozen=True, slots=True)
class Output:
    """`$(commands)`: what they print."""

    commands: Sequence
    quoted: bool


Part: TypeAlias = Text | Variable | Output
Word: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where a stream goes, or comes from."""

    stream: int
    """0 for input, 1 for output, 2 for errors."""
    sign: str
    """`>`, `>>`, `<` or `>&`."""
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """A program or function with its arguments, or assignments alone."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()


Command: TypeAlias = Simple


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands, each of which reads what the one before it prints."""

    commands: tuple[Command, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """Pipelines that depend on how the one before them ended."""

    first: Pipeline
    rest: tuple[tuple[str, Pipeline], ...] = ()
    """Each with `&&` or `||` before it."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Chains one after another."""

    chains: tuple[Chain, ...] = field(default=())
