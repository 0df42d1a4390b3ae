"""Order apps by their dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman.catalog.app import App
from stockman.catalog.component import Phase
from stockman.catalog.objects import MONITORING
from stockman.catalog.selection import SelectedComponent
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class OrderedApp:
    """An app with its component and its dependencies."""

    owner: str
    """Name of the component."""
    folder: str
    """Directory of the component inside of the namespace directory."""
    app: App
    after: tuple[App, ...]
    waited_for: bool
    """Whether another app depends on it."""

    @property
    def directory(self) -> str:
        return f"kubernetes/apps/{self.app.namespace}/{self.folder}/{self.app.folder}"


def order_apps(selection: Iterable[SelectedComponent]) -> tuple[OrderedApp, ...]:
    """Return all apps in order; refuses unknown dependencies and cycles."""
    chosen = tuple(selection)
    apps = {item.component.name: tuple(item.component.apps(item.context)) for item in chosen}
    known = apps_by_name(apps)
    waits: dict[str, tuple[App, ...]] = {}
    for item in chosen:
        for index, app in enumerate(apps[item.component.name]):
            before = (
                _prerequisite_apps(item, apps)
                if index == 0
                else (apps[item.component.name][index - 1],)
            )
            dependencies = tuple(find_app(app, name, known) for name in app.after)
            waits[app.name] = _unique((*before, *dependencies))
    reject_cycles(waits)
    awaited = {dependency.name for before in waits.values() for dependency in before}
    return tuple(
        OrderedApp(
            owner=item.component.name,
            folder=item.context.facts.release,
            app=app,
            after=waits[app.name],
            waited_for=app.name in awaited,
        )
        for item in chosen
        for app in apps[item.component.name]
    )


def apps_by_name(apps: Mapping[str, tuple[App, ...]]) -> dict[str, App]:
    """Return all apps by name; refuses duplicate names."""
    known_apps: dict[str, App] = {}
    for owner, own in apps.items():
        for app in own:
            if app.name in known_apps:
                raise Refused(_duplicate_app(app.name, owner))
            known_apps[app.name] = app
    return known_apps


def _prerequisite_apps(
    selected: SelectedComponent, apps: Mapping[str, tuple[App, ...]]
) -> tuple[App, ...]:
    """Return the last apps of the components that this one needs."""
    needed = selected.context.facts.requires
    is_late = selected.component.phase is not Phase.DEFINITIONS
    if is_late and selected.context.is_enabled(MONITORING):
        # The API server rejects monitors and rules until their kinds exist.
        needed = (*needed, MONITORING)
    return tuple(apps[name][-1] for name in needed if apps.get(name))


def find_app(app: App, name: str, by_name: Mapping[str, App]) -> App:
    """Return the app that another one depends on; refuses an unknown name."""
    app_found = by_name.get(name)
    if app_found is None:
        raise Refused(
            Problem(
                code="render.dangling",
                what=f"the app {app.name} depends on {name}, which is not rendered",
                why="Flux would wait forever",
                fix=f"enable the component that contains {name}",
            )
        )
    return app_found


def _unique(apps: tuple[App, ...]) -> tuple[App, ...]:
    return tuple({app.name: app for app in apps}.values())


def reject_cycles(waits: Mapping[str, tuple[App, ...]]) -> None:
    """Refuse apps that depend on each other."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " -> ".join((*path[path.index(name) :], name))
            raise Refused(
                Problem(
                    code="render.circle",
                    what="components depend on each other",
                    why=f"{circle}: none of them could ever start",
                    fix="remove one of these dependencies",
                )
            )
        if name not in done:
            for dependency in waits.get(name, ()):
                visit(dependency.name, (*path, name))
            done.add(name)

    for name in waits:
        visit(name, ())


def _duplicate_app(name: str, owner: str) -> Problem:
    return Problem(
        code="render.name",
        what=f"{owner} has an app named {name}, and another component has one too",
        why="names of apps must be unique in the cluster",
        fix="disable one of the components",
    )
