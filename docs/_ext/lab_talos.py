"""The page of what Talos machines of the lab answer."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.talos.api.registry import all_methods
from stockman_lab.talos.cosi.registry import claimed
from stockman_lab.talos.cosi.tables import definitions

from docs._ext.markdown import code, page, table
from docs._ext.places import GENERATED
from stockman.talos.wire.schema import UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS


def pages() -> dict[str, str]:
    """Page texts by path below `docs`, without suffix."""
    text = page(
        "# Talos API of the lab",
        "",
        "What Talos machines of the lab answer, in which minor release. Every other method is",
        "refused as the real one refuses a method that it does not know, with `Unimplemented`.",
        "",
        "## Methods",
        "",
        table(("Method", *MINORS), _methods()),
        "## Resources",
        "",
        "Every kind that a release defines can be listed, with its aliases and columns. Those",
        "below have contents in the lab; all others are empty.",
        "",
        table(("Kind", *MINORS), _kinds()),
    )
    return {f"{GENERATED}/lab-talos": text}


def _methods() -> Iterator[tuple[str, ...]]:
    methods = all_methods()
    for service, name in sorted(methods.names()):
        there = [
            methods.entry_of(service, name, minor) is not None and _on_wire(service, name, minor)
            for minor in MINORS
        ]
        if any(there):
            yield code(f"{service}/{name}"), *map(_yes, there)


def _on_wire(service: str, name: str, minor: str) -> bool:
    try:
        load_api_schema(minor).method(service, name)
    except UnknownApiName:
        return False
    return True


def _kinds() -> Iterator[tuple[str, ...]]:
    for kind in claimed():
        there = [kind.lower() in definitions(minor) for minor in MINORS]
        yield code(kind), *map(_yes, there)


def _yes(there: bool) -> str:
    return "yes" if there else ""
