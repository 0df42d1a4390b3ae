"""Versions: `1.12.0` and `v1.12.0` are equal; each consumer prints its own form."""

from __future__ import annotations

import re
from functools import total_ordering

from stockman.model.pattern import pattern

_FORM = pattern(
    r"v?(?P<major>0|[1-9]\d*)\.(?P<minor>0|[1-9]\d*)(?:\.(?P<patch>0|[1-9]\d*))?"
    r"(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+(?P<build>[0-9A-Za-z.-]+))?",
    re.ASCII,
)


@total_ordering
class Version:
    """A semantic version. A missing patch number is preserved and compares as zero."""

    __slots__ = ("build", "major", "minor", "patch", "pre")

    def __init__(
        self, major: int, minor: int, patch: int | None = None, *, pre: str = "", build: str = ""
    ) -> None:
        self.major = major
        self.minor = minor
        self.patch = patch
        self.pre = pre
        self.build = build

    @classmethod
    def parse(cls, text: str) -> Version:
        """Parse a version with or without a leading `v`; raises ValueError if it is invalid."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a version")
        patch = match["patch"]
        return cls(
            int(match["major"]),
            int(match["minor"]),
            None if patch is None else int(patch),
            pre=match["pre"] or "",
            build=match["build"] or "",
        )

    @property
    def line(self) -> tuple[int, int]:
        """Release line: major and minor number."""
        return (self.major, self.minor)

    @property
    def bare(self) -> str:
        """Text without the leading v, as used by charts and Talos contracts."""
        core = f"{self.major}.{self.minor}"
        if self.patch is not None:
            core += f".{self.patch}"
        return (
            core + (f"-{self.pre}" if self.pre else "") + (f"+{self.build}" if self.build else "")
        )

    @property
    def tagged(self) -> str:
        """Text with the leading v, as used by image tags and Talos."""
        return f"v{self.bare}"

    @property
    def minor_text(self) -> str:
        """Release line as text, `1.12`."""
        return f"{self.major}.{self.minor}"

    def _order(self) -> tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]:
        return (self.major, self.minor, self.patch or 0, not self.pre, _pre_order(self.pre))

    def __eq__(self, version: object) -> bool:
        return isinstance(version, Version) and self._order() == version._order()

    def __lt__(self, version: object) -> bool:
        if not isinstance(version, Version):
            return NotImplemented
        return self._order() < version._order()

    def __hash__(self) -> int:
        return hash(self._order())

    def __repr__(self) -> str:
        return f"Version({self.bare!r})"

    def __str__(self) -> str:
        return self.bare


def _pre_order(pre: str) -> tuple[tuple[bool, int, str], ...]:
    identifiers = pre.split(".") if pre else []
    return tuple(
        (False, int(identifier), "") if identifier.isdigit() else (True, 0, identifier)
        for identifier in identifiers
    )
