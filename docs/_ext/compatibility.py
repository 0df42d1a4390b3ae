"""The page with compatibility tables."""

from __future__ import annotations

from collections.abc import Iterator

from docs._ext.link_targets import GENERATED
from docs._ext.markdown import code, page, table
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
    """Return page texts by path below `docs`, without suffix."""
    text = page(
        "# Compatibility",
        "",
        "Compatible versions, as printed by `stockman versions`. `stockman validate` refuses other",
        "versions; a newer patch release is only a warning.",
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
                str(line.line),
                str(line.newest),
                f"{line.kubernetes[0]} to {line.kubernetes[1]}",
                str(line.kubernetes_default),
                str(line.etcd),
                str(line.kernel),
                f"{line.installs_over[0]} to before {line.installs_over[1]}",
            )
            for line in talos_lines()
        ),
    )
    for line in talos_lines():
        if line.notes:
            yield f"Notes for Talos {line.line}:"
            yield ""
            yield from (f"- {note}" for note in line.notes)
            yield ""


def _kubernetes() -> Iterator[str]:
    yield from _heading("Kubernetes", "kubernetes")
    rows = ((str(line.line), str(line.newest)) for line in kubernetes_lines())
    yield from table(("Kubernetes", "Newest"), rows)


def _proxmox() -> Iterator[str]:
    yield from _heading("Proxmox VE", "proxmox")
    yield from table(
        ("Proxmox VE", "Supported", "Notes"),
        (
            (
                str(line.line),
                "no" if line.refused else "yes",
                "; ".join((line.refused, *line.notes)),
            )
            if line.refused
            else (str(line.line), "yes", "; ".join(line.notes))
            for line in proxmox_lines()
        ),
    )


def _components() -> Iterator[str]:
    yield from _heading("Components", "components")
    yield from table(
        ("Component", "Chart", "Version", "Needs"),
        (
            (
                code(component.name),
                code(component.chart) if component.chart else "none",
                str(component.version or "unknown"),
                _needs(component),
            )
            for component in all_component_facts()
        ),
    )


def _needs(component: ComponentFacts) -> str:
    return ", ".join(f"{name} {version}" for name, version in component.needs.items())


def _extensions() -> Iterator[str]:
    yield from _heading("System extensions", "extensions")
    yield from table(
        ("Extension", "Since Talos", "Purpose"),
        (
            (code(extension.name), str(extension.since), extension.purpose)
            for extension in extensions()
        ),
    )
    yield "Removed from newer releases:"
    yield ""
    yield from table(
        ("Extension", "Last Talos", "Replacement"),
        (
            (
                code(extension.name),
                str(extension.last_line),
                " or ".join(code(name) for name in extension.replacements) or "none",
            )
            for extension in removed_extensions()
        ),
    )


def _heading(title: str, name: str) -> Iterator[str]:
    facts = read_table(name)
    yield f"## {title}"
    yield ""
    yield f"As of {facts['refreshed']}. Sources: {'; '.join(facts['source'])}."
    yield ""
