"""The page of calls that the lab answers."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.commands.runtime.coverage import coverage

from docs._ext.markdown import code, page, table
from docs._ext.places import GENERATED

_PROFILES = ("9.1", "8.4")


def pages() -> dict[str, str]:
    """Page texts by path below `docs`, without suffix."""
    text = page(
        "# Calls of the lab",
        "",
        "What the simulated Proxmox VE answers of the API, as `stockman lab coverage` prints it.",
        "Every other call is refused as the real one refuses an unknown method, with status 501.",
        "",
        _areas(),
        "## Every call of release 9.1 that is answered",
        "",
        _calls(),
    )
    return {f"{GENERATED}/lab-calls": text}


def _areas() -> Iterator[str]:
    found = {profile: coverage(profile) for profile in _PROFILES}
    rows: dict[str, list[str]] = {}
    for profile, one in found.items():
        for area in one.areas:
            if area.there:
                rows.setdefault(area.area, ["", ""])[_PROFILES.index(profile)] = (
                    f"{area.there} of {area.all}"
                )
    for profile, one in found.items():
        there = sum(call.there for call in one.calls)
        yield f"- release {profile}: {there} of {len(one.calls)} calls"
    yield ""
    yield from table(
        ("Area", *_PROFILES), ((code(area), *cells) for area, cells in sorted(rows.items()))
    )


def _calls() -> Iterator[str]:
    for call in coverage(_PROFILES[0]).calls:
        if call.there:
            yield f"- {code(f'{call.method} {call.path}')}"
