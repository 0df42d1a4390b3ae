"""The page with the Proxmox VE calls that the lab implements."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve.api.registry import load_endpoints
from stockman_lab.pve.schema.schema import Schema

from docs._ext.link_targets import GENERATED
from docs._ext.markdown import code, page, table

_PROFILES = ("9.1", "8.4")
_DEPTH = {"nodes": 2, "cluster": 1}
"""Path segments below the first that form an area."""


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    text = page(
        "# Proxmox VE API of the lab",
        "",
        "Calls that the simulated Proxmox VE implements.",
        "Other calls return status 501, as unknown methods of the real API do.",
        "",
        _areas(),
        "## Calls of release 9.1",
        "",
        _calls(),
    )
    return {f"{GENERATED}/lab-calls": text}


def _areas() -> Iterator[str]:
    rows: dict[str, list[str]] = {}
    for column, profile in enumerate(_PROFILES):
        areas: dict[str, list[bool]] = {}
        for operation, is_implemented in _operations(profile).items():
            areas.setdefault(_area(operation[1]), []).append(is_implemented)
        implemented = sum(map(sum, areas.values()))
        total = sum(map(len, areas.values()))
        yield f"- release {profile}: {implemented} of {total} calls"
        for area, calls in areas.items():
            if any(calls):
                rows.setdefault(area, ["", ""])[column] = f"{sum(calls)} of {len(calls)}"
    yield ""
    yield from table(
        ("Area", *_PROFILES), ((code(area), *cells) for area, cells in sorted(rows.items()))
    )


def _calls() -> Iterator[str]:
    for (method, path), is_implemented in _operations(_PROFILES[0]).items():
        if is_implemented:
            yield f"- {code(f'{method} {path}')}"


def _operations(profile: str) -> dict[tuple[str, str], bool]:
    """Return the calls of a release, and whether the lab implements them."""
    handlers = load_endpoints()
    operations = sorted(Schema.of(profile).operations, key=lambda operation: operation[::-1])
    return {operation: operation in handlers for operation in operations}


def _area(path: str) -> str:
    texts = path.strip("/").split("/")
    return "/" + "/".join(texts[: 1 + _DEPTH.get(texts[0], 0)])
