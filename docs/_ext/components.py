"""Pages of the catalog: one for each component, and a list."""

from __future__ import annotations

from collections.abc import Iterator

from docs._ext.link_targets import GENERATED, of_component
from docs._ext.markdown import code, contents, page, table
from stockman.app.explanation import component_pages
from stockman.catalog.explanation import ComponentPage
from stockman.config.reference.explain import field_text


def pages() -> dict[str, str]:
    """Return page texts by path below `docs`, without suffix."""
    components = component_pages()
    texts = {of_component(component.name).page: _component(component) for component in components}
    return {f"{GENERATED}/components/index": _overview(components), **texts}


def _overview(components: tuple[ComponentPage, ...]) -> str:
    return page(
        "# Components",
        "",
        "Components that stockman can install. `stockman explain component NAME` prints the same",
        "texts. [The catalog](../../../explanation/catalog.md) explains how they work together.",
        "",
        table(
            ("Component", "Version", "Enabled", "Purpose"),
            (
                (
                    f"[{component.name}]({component.name}.md)",
                    component.version or component.app,
                    component.on,
                    component.about,
                )
                for component in components
            ),
        ),
        contents(component.name for component in components),
    )


def _component(component: ComponentPage) -> str:
    return page(
        f"# {component.name}",
        "",
        component.about,
        "",
        table(("", ""), _facts(component)),
        *_settings(component),
        *_pairs("Secrets", ((code(name), text) for name, text in component.secrets.items())),
        *_list("Ready when", component.ready),
        *_list("Smoke test", (component.smoke_test,) if component.smoke_test else ()),
        *_pairs("Alerts", ((f"{a.name} ({a.severity})", a.summary) for a in component.alerts)),
        *_pairs(
            "Known problems",
            ((t.symptom, f"Cause: {t.cause}. Fix: {t.fix}.") for t in component.known_problems),
        ),
    )


def _facts(component: ComponentPage) -> Iterator[tuple[str, str]]:
    yield "Enabled", component.on
    yield "Phase", component.phase
    if component.chart:
        yield (
            "Chart",
            f"{code(component.chart)} {component.version} from {code(component.repository)}",
        )
    if component.app:
        yield "Program", component.app
    for name, tag in component.further.items():
        yield "Additional", f"{code(name)} {tag}"
    security = f", Pod Security level {component.pod_security}" if component.pod_security else ""
    yield "Namespace", f"{code(component.namespace)}{security}"
    yield "Needs", ", ".join(f"[{need}]({need}.md)" for need in component.requires) or "nothing"
    yield "Licence", component.licence
    if component.talos_role:
        yield "Talos role", code(component.talos_role)
    if component.proxmox is not None:
        access = component.proxmox
        rights = ", ".join(map(code, access.privileges))
        later = ", ".join(map(code, access.privileges_from_9))
        more = f"; since Proxmox VE 9 also {later}" if later else ""
        where = " and ".join(map(code, access.paths))
        yield "Proxmox VE role", f"{code(access.role)} on {where}: {rights}{more}"
    if component.definitions:
        yield "Custom resources", ", ".join(component.definitions)
    if component.note:
        yield "Note", component.note


def _settings(component: ComponentPage) -> Iterator[str]:
    start = f"components.{component.name}.settings."
    pairs = (
        (f"{code(key.path.removeprefix(start))} *{key.type}*", field_text(key))
        for key in component.settings
    )
    yield from _pairs("Settings", pairs)


def _list(title: str, texts: tuple[str, ...]) -> Iterator[str]:
    if texts:
        yield from (f"## {title}", "", *(f"- {text}" for text in texts), "")


def _pairs(title: str, pairs: Iterator[tuple[str, str]]) -> Iterator[str]:
    rows = list(pairs)
    if rows:
        yield from (f"## {title}", "")
    for name, text in rows:
        yield from (name, f": {text}", "")
