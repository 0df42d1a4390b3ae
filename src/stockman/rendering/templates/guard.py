"""What a render may still do: steps, sizes, depth. The same on fast machines and on slow ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from stockman.model.origin import Position
from stockman.model.record import record
from stockman.rendering.templates.contract import Limits
from stockman.rendering.templates.errors import TemplateStopped
from stockman.rendering.templates.secret_text import UnresolvedSecret, secret_labels

T = TypeVar("T")
_CHARACTERS = 6
"""64 characters of text are a step."""
_BITS = 9
_BATCH_STEPS = 1000
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
"""What the methods of a mapping give."""
_CONTAINERS = (list, tuple, set, frozenset, *VIEWS)


@record
class RevealedSecret:
    """A secret that a template put into its result."""

    name: str
    at: Position


class Guard:
    """Counts down what a render may still do, and notes the secrets that reach a result."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.depth = 0
        self.reveals: dict[RevealedSecret, None] = {}
        self._whole = limits.work
        self._left = 0

    def begin(self) -> None:
        """Start with another file."""
        self.depth = 0
        self.reveals = {}
        self._left = min(self.limits.work_per_file, self._whole)
        self._whole -= self._left

    def end(self) -> None:
        """Give back what the file did not use."""
        self._whole += max(self._left, 0)
        self._left = 0

    @property
    def spent(self) -> int:
        """Steps taken so far, by all files."""
        return self.limits.work - self._whole

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise TemplateStopped(
                code="template.too-much-work",
                what="the template does not come to an end",
                why=f"it took more than {self.limits.work_per_file:,} steps, or all templates "
                f"together more than {self.limits.work:,}",
                fix="look for a loop in a loop, or for a list that grows while it is walked",
            )

    def text(self, size: int) -> None:
        """Take a text of this size into account before it is made."""
        if size > self.limits.text:
            raise TemplateStopped(
                code="template.too-large",
                what="the template makes too long a text",
                why=f"{_figure(size)} characters; at most {self.limits.text:,} are made",
                fix="make less: a number of repetitions or a width is too large",
            )
        if size > 0:
            self.spend(1 + (size >> _CHARACTERS))

    def items(self, count: int) -> None:
        """Take a list of this length into account before it is made."""
        if count > self.limits.items:
            raise TemplateStopped(
                code="template.too-large",
                what="the template makes too long a list",
                why=f"{_figure(count)} items; at most {self.limits.items:,} are made",
                fix="make less: the end of a range or a number of repetitions is too large",
            )
        if count > 0:
            self.spend(1 + count)

    def digits(self, bits: int) -> None:
        """Take a number of so many bits into account before it is made."""
        if bits > self.limits.bits:
            raise TemplateStopped(
                code="template.too-large",
                what="the template makes too large a number",
                why=f"it has {_figure(bits * 3 // 10)} digits",
                fix="use smaller numbers",
            )

    def deeper(self, what: str) -> None:
        """Enter a template, macro or loop inside of another."""
        self.depth += 1
        if self.depth > self.limits.depth:
            raise nesting_too_deep(what, self.limits.depth)

    def survey(self, value: object, labels: set[str]) -> None:
        """Pay for walking through a value with everything in it, and collect its secrets."""
        stack = [value]
        steps = 0
        while stack:
            one = stack.pop()
            steps += 1
            if isinstance(one, str):
                steps += len(one) >> _CHARACTERS
                labels.update(secret_labels(one))
            elif isinstance(one, dict):
                self.spend(len(one))
                stack.extend(one.keys())
                stack.extend(one.values())
            elif isinstance(one, _CONTAINERS) and isinstance(one, Iterable):
                parts = list(one)
                self.spend(len(parts))
                stack.extend(parts)
            elif isinstance(one, int):
                steps += one.bit_length() >> _BITS
            elif isinstance(one, UnresolvedSecret):
                raise one.stopped()
            if steps > _BATCH_STEPS:
                self.spend(steps)
                steps = 0
        self.spend(steps)

    def counted(self, items: Iterable[T], labels: set[str] | None = None) -> Iterator[T]:
        """The same items, each paid for when it is taken."""
        for item in items:
            self.spend(1)
            if labels is not None:
                self.survey(item, labels)
            yield item


def nesting_too_deep(what: str, depth: int) -> TemplateStopped:
    """What is said where things stand too deep inside each other."""
    return TemplateStopped(
        code="template.too-deep",
        what=f"{what} never stops calling itself",
        why=f"templates, macros and loops stand inside each other more than {depth} deep",
        fix="give the recursion an end, or remove the include of itself",
    )


def _figure(count: int) -> str:
    return f"{count:,}" if count < 10**15 else "more than 10^15"
