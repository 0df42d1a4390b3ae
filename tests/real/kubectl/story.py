"""Stories: commands that are given to kubectl one after the other, as data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

READS = frozenset({"get", "describe", "events", "auth", "explain", "api-resources"})
"""Commands that may be asked again until the controllers of a cluster have done their work."""


@dataclass(frozen=True)
class Command:
    """One command, and how it is given.

    A line may begin with marks: `@then` (it is repeated until it succeeds: something is awaited,
    and only its success is compared), `@once` (never asked again), `@sorted` (its lines come in
    any order), `@watch` (it stays, and what it said is compared at `@watched`), `@editor=SCRIPT`
    (the editor is `sed -i SCRIPT`), `@stdin=FILE`.
    """

    line: str
    words: tuple[str, ...]
    marks: Mapping[str, str]

    @classmethod
    def read(cls, line: str) -> Command:
        words = shlex.split(line)
        marks = {}
        while words and words[0].startswith("@"):
            name, _, value = words.pop(0)[1:].partition("=")
            marks[name] = value
        return cls(
            " ".join(shlex.quote(one) if " " in one else one for one in words), tuple(words), marks
        )

    @property
    def verb(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def is_asked_again(self) -> bool:
        return self.verb in READS and not {"once", "watch", "then"} & set(self.marks)


@dataclass(frozen=True)
class Story:
    """Commands in a namespace of their own, which has the name of the story."""

    name: str
    text: str
    files: Mapping[str, str] = field(default_factory=dict)
    anywhere: bool = True
    """Whether its pods may be on any of the workers, which are then called `worker`."""
    alone: bool = False
    """Whether nothing else may happen in the cluster at the same time."""
    long: bool = False
    """Whether it is told by the long tests alone."""

    @property
    def commands(self) -> Iterator[Command]:
        joined = self.text.replace("\\\n", " ")
        for line in joined.splitlines():
            if line.strip() and not line.strip().startswith("#"):
                yield Command.read(line.strip())
