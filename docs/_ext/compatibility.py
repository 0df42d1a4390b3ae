"""The page of compatibility tables."""

from __future__ import annotations

from collections.abc import Iterator

from docs._ext.markdown import code, page, table
from docs._ext.places import GENERATED
from stockman.model.compatibility import (
    extensions,
    kubernetes_lines,
    proxmox_lines,
    removed_extensions,
    talos_lines,
)
from stockman.model.component import ComponentFacts, all_component_facts
from stockman.model.tables import read_table


def pages() -> dict[str, str]:
    """Page texts by path below `docs`, without suffix."""
    text = page(
        "# Compatibility",
        "",
        "Which versions fit together, as `stockman versions` prints it. What these tables refuse,",
        "`stockman validate` refuses; a patch that is newer than they know is a warning only.",
        "",
        _talos(),
        _kubernetes(),
        _proxmox(),
        _components(),
        _extensions(),
    )
    return {f"{GENERATED}/compatibility": text}


def _talos() -> Iterator[str]:
    yield from _heading("Talos", "talos")
    yield from table(
        ("Talos", "Newest", "Kubernetes", "Default", "etcd", "Linux", "Installs over"),
        (
            (
                str(one.line),
                str(one.newest),
                f"{one.kubernetes[0]} to {one.kubernetes[1]}",
                str(one.kubernetes_default),
                str(one.etcd),
                str(one.kernel),
                f"{one.installs_over[0]} to before {one.installs_over[1]}",
            )
            for one in talos_lines()
        ),
    )
    for line in talos_lines():
        if line.notes:
            yield f"Of Talos {line.line}:"
            yield ""
            yield from (f"- {note}" for note in line.notes)
            yield ""


def _kubernetes() -> Iterator[str]:
    yield from _heading("Kubernetes", "kubernetes")
    rows = ((str(one.line), str(one.newest)) for one in kubernetes_lines())
    yield from table(("Kubernetes", "Newest"), rows)


def _proxmox() -> Iterator[str]:
    yield from _heading("Proxmox VE", "proxmox")
    yield from table(
        ("Proxmox VE", "Supported", "Notes"),
        (
            (str(one.line), "no" if one.refused else "yes", "; ".join((one.refused, *one.notes)))
            if one.refused
            else (str(one.line), "yes", "; ".join(one.notes))
            for one in proxmox_lines()
        ),
    )


def _components() -> Iterator[str]:
    yield from _heading("Components", "components")
    yield from table(
        ("Component", "Chart", "Version", "Needs"),
        (
            (
                code(one.name),
                code(one.chart) if one.chart else "none",
                str(one.version or "not known"),
                _needs(one),
            )
            for one in all_component_facts()
        ),
    )


def _needs(component: ComponentFacts) -> str:
    return ", ".join(f"{name} {version}" for name, version in component.needs.items())


def _extensions() -> Iterator[str]:
    yield from _heading("System extensions", "extensions")
    yield from table(
        ("Extension", "Since Talos", "Purpose"),
        ((code(one.name), str(one.since), one.purpose) for one in extensions()),
    )
    yield "Gone from newer releases:"
    yield ""
    yield from table(
        ("Extension", "Last Talos", "Instead"),
        (
            (
                code(one.name),
                str(one.last_line),
                " or ".join(code(name) for name in one.replacements) or "none",
            )
            for one in removed_extensions()
        ),
    )


def _heading(title: str, name: str) -> Iterator[str]:
    facts = read_table(name)
    yield f"## {title}"
    yield ""
    yield f"As of {facts['refreshed']}. Sources: {'; '.join(facts['source'])}."
    yield ""
