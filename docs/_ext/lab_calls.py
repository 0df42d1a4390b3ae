"""The page with the Proxmox VE calls that the lab implements."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.commands.runtime.coverage import coverage

from docs._ext.link_targets import GENERATED
from docs._ext.markdown import code, page, table

_PROFILES = ("9.1", "8.4")


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    text = page(
        "# Proxmox VE API of the lab",
        "",
        "Calls that the simulated Proxmox VE implements, as printed by `stockman lab coverage`.",
        "Other calls return status 501, as unknown methods of the real API do.",
        "",
        _areas(),
        "## Calls of release 9.1",
        "",
        _calls(),
    )
    return {f"{GENERATED}/lab-calls": text}


def _areas() -> Iterator[str]:
    coverages = {profile: coverage(profile) for profile in _PROFILES}
    rows: dict[str, list[str]] = {}
    for profile, release_coverage in coverages.items():
        for area in release_coverage.areas:
            if area.there:
                rows.setdefault(area.area, ["", ""])[_PROFILES.index(profile)] = (
                    f"{area.there} of {area.all}"
                )
    for profile, release_coverage in coverages.items():
        implemented = sum(call.there for call in release_coverage.calls)
        yield f"- release {profile}: {implemented} of {len(release_coverage.calls)} calls"
    yield ""
    yield from table(
        ("Area", *_PROFILES), ((code(area), *cells) for area, cells in sorted(rows.items()))
    )


def _calls() -> Iterator[str]:
    for call in coverage(_PROFILES[0]).calls:
        if call.there:
            yield f"- {code(f'{call.method} {call.path}')}"
