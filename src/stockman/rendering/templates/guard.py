"""Limits of rendering: steps, sizes, depth. They do not depend on the speed of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from stockman.model.origin import Position
from stockman.model.record import record
from stockman.rendering.templates.contract import Limits, TemplateStopped
from stockman.rendering.templates.secret_text import UnresolvedSecret, secret_labels

T = TypeVar("T")
_CHARACTERS = 6
"""64 characters of text are one step."""
_BITS = 9
_BATCH_STEPS = 1000
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
"""Types of mapping views."""
_CONTAINERS = (list, tuple, set, frozenset, *VIEWS)


@record
class RevealedSecret:
    """A secret that a template wrote to its result."""

    name: str
    at: Position


class Guard:
    """Counts the steps of a render, and records the secrets in its results."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.depth = 0
        self.reveals: dict[RevealedSecret, None] = {}
        self._readable_file = ""
        self._whole = limits.work
        self._left = 0

    def begin(self, readable_file: str) -> None:
        """Start with another file; `readable_file` is empty if it will be encrypted."""
        self._readable_file = readable_file
        self.depth = 0
        self.reveals = {}
        self._left = min(self.limits.work_per_file, self._whole)
        self._whole -= self._left

    def end(self) -> None:
        """Return the unused steps of the file."""
        self._whole += max(self._left, 0)
        self._left = 0

    @property
    def spent(self) -> int:
        """Steps of all files so far."""
        return self.limits.work - self._whole

    def use(self, labels: Iterable[str]) -> None:
        """Stop a template that uses secrets, unless its file will be encrypted.

        Whatever is compared with a secret, cut from it or computed from it can write it into the
        file piece by piece.
        """
        if self._readable_file and (names := sorted(labels)):
            raise TemplateStopped(
                code="template.secret-used",
                what=f"{names[0]} is used in {self._readable_file}",
                why="only files with .sops. before the suffix are encrypted; other files can only"
                " test whether a secret is set",
                fix="move it to a *.sops.* file, or write `if NAME` to test whether it is set",
            )

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise TemplateStopped(
                code="template.too-much-work",
                what="the template does not terminate",
                why=f"it needed more than {self.limits.work_per_file:,} steps, or all "
                f"templates together more than {self.limits.work:,}",
                fix="look for nested loops, or for a list that grows while it is iterated",
            )

    def text(self, size: int) -> None:
        """Charge a string of this size before it is built."""
        if size > self.limits.text:
            raise TemplateStopped(
                code="template.too-large",
                what="the template creates a string that is too long",
                why=f"it has {_figure(size)} characters; at most {self.limits.text:,} are allowed",
                fix="reduce the number of repetitions or the width",
            )
        if size > 0:
            self.spend(1 + (size >> _CHARACTERS))

    def items(self, count: int) -> None:
        """Charge a list of this length before it is built."""
        if count > self.limits.items:
            raise TemplateStopped(
                code="template.too-large",
                what="the template creates a list that is too long",
                why=f"it has {_figure(count)} items; at most {self.limits.items:,} are allowed",
                fix="reduce the range or the number of repetitions",
            )
        if count > 0:
            self.spend(1 + count)

    def digits(self, bits: int) -> None:
        """Charge a number of this many bits before it is computed."""
        if bits > self.limits.bits:
            raise TemplateStopped(
                code="template.too-large",
                what="the template computes a number that is too large",
                why=f"it has {_figure(bits * 3 // 10)} digits",
                fix="use smaller numbers",
            )

    def deeper(self, name: str) -> None:
        """Enter a nested template, macro or loop."""
        self.depth += 1
        if self.depth > self.limits.depth:
            raise nesting_too_deep(name, self.limits.depth)

    def survey(self, value: object, labels: set[str]) -> None:
        """Charge walking through a value and everything in it, and return its secrets."""
        stack = [value]
        steps = 0
        while stack:
            item = stack.pop()
            steps += 1
            if isinstance(item, str):
                steps += len(item) >> _CHARACTERS
                labels.update(secret_labels(item))
            elif isinstance(item, dict):
                self.spend(len(item))
                stack.extend(item.keys())
                stack.extend(item.values())
            elif isinstance(item, _CONTAINERS) and isinstance(item, Iterable):
                items = list(item)
                self.spend(len(items))
                stack.extend(items)
            elif isinstance(item, int):
                steps += item.bit_length() >> _BITS
            elif isinstance(item, UnresolvedSecret):
                raise item.stop_problem()
            if steps > _BATCH_STEPS:
                self.spend(steps)
                steps = 0
        self.spend(steps)

    def charge_items(self, items: Iterable[T], labels: set[str] | None = None) -> Iterator[T]:
        """Yield the items, charging each of them."""
        for item in items:
            self.spend(1)
            if labels is not None:
                self.survey(item, labels)
            yield item


def nesting_too_deep(name: str, depth: int) -> TemplateStopped:
    """Return the problem of too much nesting."""
    return TemplateStopped(
        code="template.too-deep",
        what=f"{name} calls itself without end",
        why=f"templates, macros and loops are nested more than {depth} levels deep",
        fix="end the recursion, or remove the include of the template itself",
    )


def _figure(count: int) -> str:
    return f"{count:,}" if count < 10**15 else "more than 10^15"
