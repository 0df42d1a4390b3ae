"""Describe components, as text and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockman.catalog.component import Alert, Component, KnownProblem, ProxmoxAccess
from stockman.config.components import CONDITIONS
from stockman.config.reference.explain import (
    INDENT,
    USUAL_WIDTH,
    Paint,
    fact_lines,
    field_text,
    wrap_text,
)
from stockman.config.reference.keys import Key, keys_of_record
from stockman.model.component import ComponentFacts
from stockman.model.record import record

_LABEL = 12


@record
class ComponentPage:
    """Description of a component."""

    name: str
    about: str
    phase: str
    on: str
    """When it is enabled."""
    chart: str
    """Empty: it is not installed from a chart."""
    repository: str
    version: str
    app: str
    further: Mapping[str, str]
    """Other charts and images, with their versions."""
    namespace: str
    pod_security: str
    """Empty: the namespace is exempt, or needs no level."""
    licence: str
    requires: tuple[str, ...]
    talos_role: str
    """Empty: it does not use Talos."""
    proxmox: ProxmoxAccess | None
    """None: it does not use Proxmox VE."""
    settings: tuple[Key, ...]
    secrets: Mapping[str, str]
    definitions: tuple[str, ...]
    ready: tuple[str, ...]
    smoke_test: str
    """Empty: there is no smoke test."""
    alerts: tuple[Alert, ...]
    known_problems: tuple[KnownProblem, ...]
    note: str


def settings_keys(component: Component) -> tuple[Key, ...]:
    """Return the keys of the component's settings, with their descriptions."""
    return keys_of_record(component.settings, f"components.{component.name}.settings")


def component_page(component: Component, known: ComponentFacts) -> ComponentPage:
    """Return the description of a component."""
    when = CONDITIONS[known.condition]
    return ComponentPage(
        name=component.name,
        about=component.about,
        phase=component.phase.value,
        on=when.reason or "when enabled in the configuration",
        chart=known.chart,
        repository=known.repository,
        version=known.tag,
        app=known.app_version,
        further={name: artifact.tag for name, artifact in known.artifacts.items()},
        namespace=known.namespace,
        pod_security=known.pod_security,
        licence=known.licence,
        requires=known.requires,
        talos_role=known.talos_role,
        proxmox=component.proxmox,
        settings=settings_keys(component),
        secrets=component.secrets,
        definitions=component.definitions,
        ready=tuple(condition.says for condition in component.ready),
        smoke_test=component.smoke_test.says if component.smoke_test is not None else "",
        alerts=component.alerts,
        known_problems=component.known_problems,
        note=known.note,
    )


def page_lines(
    page: ComponentPage, *, width: int | None = None, paint: Paint = lambda text, style: text
) -> Iterator[str]:
    """Return the lines of a description, at most `width` columns wide where words allow it."""
    columns = width or USUAL_WIDTH
    yield from fact_lines(_facts(page), _LABEL, columns, paint)
    for heading, lines in _sections(page, columns, paint):
        values = list(lines)
        if values:
            yield ""
            yield paint(f"{heading}:", "heading")
            yield from values


def overview_lines(
    pages: Iterable[ComponentPage], *, width: int | None = None, paint: Paint = lambda text, _: text
) -> Iterator[str]:
    """Return all components with their purpose."""
    columns = width or USUAL_WIDTH
    for page in pages:
        yield paint(page.name, "name")
        yield from wrap_text(page.about, columns, INDENT * 2, INDENT * 2)


def _facts(page: ComponentPage) -> Iterator[tuple[str, str]]:
    yield "COMPONENT", page.name
    yield "ABOUT", page.about
    yield "ON", page.on
    yield "PHASE", page.phase
    if page.chart:
        yield "CHART", f"{page.chart} {page.version} from {page.repository}"
    if page.app:
        yield "PROGRAM", page.app
    if page.further:
        yield "FURTHER", ", ".join(f"{name} {tag}" for name, tag in page.further.items())
    security = f", pods are {page.pod_security}" if page.pod_security else ""
    yield "NAMESPACE", f"{page.namespace}{security}"
    yield "NEEDS", ", ".join(page.requires) or "nothing"
    yield "LICENCE", page.licence
    if page.talos_role:
        yield (
            "TALOS",
            f"role {page.talos_role}, allowed in the machine configuration of controllers",
        )
    if page.proxmox is not None:
        yield "PROXMOX", _access_lines(page.proxmox)
    if page.note:
        yield "NOTE", page.note


def _access_lines(access: ProxmoxAccess) -> str:
    later = access.privileges_from_9
    more = f"; in Proxmox VE 9 also {' '.join(later)}" if later else ""
    where = " and ".join(access.paths)
    return (
        f"user {access.user}, token {access.token}, role {access.role} on {where}:"
        f" {' '.join(access.privileges)}{more}"
    )


def _sections(
    page: ComponentPage, columns: int, paint: Paint
) -> Iterator[tuple[str, Iterator[str]]]:
    def items(texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            yield from wrap_text(text, columns, f"{INDENT}- ", INDENT * 2)

    def definitions(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
        for name, text in pairs:
            yield f"{INDENT}{paint(name, 'name')}"
            yield from wrap_text(text, columns, INDENT * 2, INDENT * 2)

    start = f"components.{page.name}.settings."
    yield (
        "SETTINGS",
        definitions(
            (f"{key.path.removeprefix(start)} <{key.type}>", field_text(key))
            for key in page.settings
        ),
    )
    yield "SECRETS", definitions(page.secrets.items())
    yield "CUSTOM RESOURCES", items(page.definitions)
    yield "READY WHEN", items(page.ready)
    yield "SMOKE TEST", items((page.smoke_test,) if page.smoke_test else ())
    yield (
        "ALERTS",
        definitions((f"{alert.name} <{alert.severity}>", alert.summary) for alert in page.alerts),
    )
    yield (
        "KNOWN PROBLEMS",
        definitions(
            (problem.symptom, f"Cause: {problem.cause}. Fix: {problem.fix}.")
            for problem in page.known_problems
        ),
    )
