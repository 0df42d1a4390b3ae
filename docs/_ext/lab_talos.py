"""The page with the Talos methods and resources of the lab."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.talos.api.registry import all_methods
from stockman_lab.talos.cosi.registry import claimed
from stockman_lab.talos.cosi.tables import definitions

from docs._ext.link_targets import GENERATED
from docs._ext.markdown import code, page, table
from stockman.talos.wire.schema import UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    text = page(
        "# Talos API of the lab",
        "",
        "Methods and resources of Talos machines of the lab, by release line. Other methods return",
        "`Unimplemented`, as unknown methods of the real API do.",
        "",
        "## Methods",
        "",
        table(("Method", *MINORS), _methods()),
        "## Resources",
        "",
        "All kinds of a release can be listed, with aliases and columns. These have content in the",
        "lab; all others are empty.",
        "",
        table(("Kind", *MINORS), _kinds()),
    )
    return {f"{GENERATED}/lab-talos": text}


def _methods() -> Iterator[tuple[str, ...]]:
    methods = all_methods()
    for service, name in sorted(methods.names()):
        supported = [
            methods.entry_of(service, name, minor) is not None and _on_wire(service, name, minor)
            for minor in MINORS
        ]
        if any(supported):
            yield code(f"{service}/{name}"), *map(_yes, supported)


def _on_wire(service: str, name: str, minor: str) -> bool:
    try:
        load_api_schema(minor).method(service, name)
    except UnknownApiName:
        return False
    return True


def _kinds() -> Iterator[tuple[str, ...]]:
    for kind in claimed():
        supported = [kind.lower() in definitions(minor) for minor in MINORS]
        yield code(kind), *map(_yes, supported)


def _yes(supported: bool) -> str:
    return "yes" if supported else ""
