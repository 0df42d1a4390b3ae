"""Talos system extensions: which exist, since when, and what became of those that are gone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from stockman.model.support import Fit, Verdict
from stockman.model.tables import content
from stockman.model.version import Version


class Extension(NamedTuple):
    """An official system extension."""

    name: str
    """As schematics spell it, `siderolabs/qemu-guest-agent`."""
    since: Version
    """First Talos release that has it."""
    purpose: str
    driver: Mapping[str, str]
    """Version of the driver in it by Talos line, `1.13`; empty where that does not matter."""


class GoneExtension(NamedTuple):
    """An extension that supported releases of Talos no longer have."""

    name: str
    last: Version
    """Last Talos line that had it."""
    now: tuple[str, ...]
    """What to take instead; empty: nothing."""


@cache
def extensions() -> tuple[Extension, ...]:
    """Every extension that some supported Talos has, by name."""
    return tuple(
        Extension(
            name=row["name"],
            since=Version.parse(row["since"]),
            purpose=row["purpose"],
            driver=row.get("driver", {}),
        )
        for row in content("extensions")["rows"]
    )


@cache
def gone_extensions() -> tuple[GoneExtension, ...]:
    """Extensions of older releases that users still name, by name."""
    return tuple(
        GoneExtension(
            name=row["name"], last=Version.parse(row["last"]), now=tuple(row.get("now", ()))
        )
        for row in content("extensions")["gone"]
    )


def extension(name: str) -> Extension | None:
    """The extension of that name; None: not known."""
    return next((one for one in extensions() if one.name == name), None)


def extension_fits(name: str, talos: Version) -> Fit:
    """Whether a Talos has an extension. One that the table does not know may be newer than it."""
    found = extension(name)
    if found is not None and talos.line >= found.since.line:
        return Fit(verdict=Verdict.OK, because=f"Talos has {name} since {found.since}")
    if found is not None:
        return Fit(
            verdict=Verdict.REFUSED,
            because=f"{name} exists since Talos {found.since}, not in {talos}",
        )
    for gone in gone_extensions():
        if gone.name == name:
            instead = f"; {' or '.join(gone.now)} took its place" if gone.now else ""
            return Fit(
                verdict=Verdict.REFUSED,
                because=f"the last Talos with {name} was {gone.last}{instead}",
            )
    return Fit(
        verdict=Verdict.NEWER,
        because=f"{name} is not in the table of {content('extensions')['refreshed']}",
    )
