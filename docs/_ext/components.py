"""Pages of the catalog: one for each component, and one that lists them."""

from __future__ import annotations

from collections.abc import Iterator

from docs._ext.markdown import code, contents, page, table
from docs._ext.places import GENERATED, of_component
from stockman.app.explanation import component_pages
from stockman.catalog.explanation import ComponentPage
from stockman.config.reference.explain import field_text


def pages() -> dict[str, str]:
    """Page texts by path below `docs`, without suffix."""
    found = component_pages()
    texts = {of_component(one.name).page: _component(one) for one in found}
    return {f"{GENERATED}/components/index": _overview(found), **texts}


def _overview(found: tuple[ComponentPage, ...]) -> str:
    return page(
        "# Components",
        "",
        "What stockman can install. `stockman explain component NAME` prints the same as the page",
        "of a component; [how they come together](../../../explanation/catalog.md) is told apart.",
        "",
        table(
            ("Component", "Version", "On", "What for"),
            (
                (f"[{one.name}]({one.name}.md)", one.version or one.app, one.on, one.about)
                for one in found
            ),
        ),
        contents(one.name for one in found),
    )


def _component(one: ComponentPage) -> str:
    return page(
        f"# {one.name}",
        "",
        one.about,
        "",
        table(("", ""), _facts(one)),
        *_settings(one),
        *_pairs("Secrets", ((code(name), text) for name, text in one.secrets.items())),
        *_list("Ready when", one.ready),
        *_list("Smoke test", (one.smoke_test,) if one.smoke_test else ()),
        *_pairs("Alerts", ((f"{a.name} ({a.severity})", a.summary) for a in one.alerts)),
        *_pairs(
            "Troubles",
            ((t.symptom, f"Because {t.cause}. Fix: {t.fix}.") for t in one.known_problems),
        ),
    )


def _facts(one: ComponentPage) -> Iterator[tuple[str, str]]:
    yield "On", one.on
    yield "Phase", one.phase
    if one.chart:
        yield "Chart", f"{code(one.chart)} {one.version} from {code(one.repository)}"
    if one.app:
        yield "Program", one.app
    for name, tag in one.further.items():
        yield "Further", f"{code(name)} {tag}"
    security = f", pods are {one.pod_security}" if one.pod_security else ""
    yield "Namespace", f"{code(one.namespace)}{security}"
    yield "Needs", ", ".join(f"[{need}]({need}.md)" for need in one.requires) or "nothing"
    yield "Licence", one.licence
    if one.talos_role:
        yield "Role at Talos", code(one.talos_role)
    if one.proxmox is not None:
        access = one.proxmox
        rights = ", ".join(map(code, access.privileges))
        later = ", ".join(map(code, access.privileges_from_9))
        more = f"; from Proxmox VE 9 on also {later}" if later else ""
        where = " and ".join(map(code, access.paths))
        yield "Role at Proxmox VE", f"{code(access.role)} on {where}: {rights}{more}"
    if one.definitions:
        yield "Custom resources", ", ".join(one.definitions)
    if one.note:
        yield "Note", one.note


def _settings(one: ComponentPage) -> Iterator[str]:
    start = f"components.{one.name}.settings."
    pairs = (
        (f"{code(key.path.removeprefix(start))} *{key.type}*", field_text(key))
        for key in one.settings
    )
    yield from _pairs("Settings", pairs)


def _list(title: str, texts: tuple[str, ...]) -> Iterator[str]:
    if texts:
        yield from (f"## {title}", "", *(f"- {text}" for text in texts), "")


def _pairs(title: str, pairs: Iterator[tuple[str, str]]) -> Iterator[str]:
    found = list(pairs)
    if found:
        yield from (f"## {title}", "")
    for name, text in found:
        yield from (name, f": {text}", "")
