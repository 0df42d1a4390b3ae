"""Apps in the order in which they may come up, and which app waits for which."""

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
    """An app, whose it is, and what has to be ready before it."""

    owner: str
    """Component."""
    folder: str
    """Directory of the component inside of its namespace's."""
    app: App
    after: tuple[App, ...]
    waited_for: bool
    """Whether another app waits for it."""

    @property
    def directory(self) -> str:
        return f"kubernetes/apps/{self.app.namespace}/{self.folder}/{self.app.folder}"


def order_apps(selection: Iterable[SelectedComponent]) -> tuple[OrderedApp, ...]:
    """Every app with its order; refuses names that nobody has and circles."""
    chosen = tuple(selection)
    apps = {one.component.name: tuple(one.component.apps(one.scene)) for one in chosen}
    known = apps_by_name(apps)
    waits: dict[str, tuple[App, ...]] = {}
    for one in chosen:
        for index, app in enumerate(apps[one.component.name]):
            before = (
                _prerequisite_apps(one, apps)
                if index == 0
                else (apps[one.component.name][index - 1],)
            )
            wanted = tuple(find_app(app, name, known) for name in app.after)
            waits[app.name] = _unique((*before, *wanted))
    reject_cycles(waits)
    awaited = {one.name for before in waits.values() for one in before}
    return tuple(
        OrderedApp(
            owner=one.component.name,
            folder=one.scene.known.release,
            app=app,
            after=waits[app.name],
            waited_for=app.name in awaited,
        )
        for one in chosen
        for app in apps[one.component.name]
    )


def apps_by_name(apps: Mapping[str, tuple[App, ...]]) -> dict[str, App]:
    """Every app by its name; refuses a name that stands twice."""
    found: dict[str, App] = {}
    for owner, own in apps.items():
        for app in own:
            if app.name in found:
                raise Refused(_duplicate_app(app.name, owner))
            found[app.name] = app
    return found


def _prerequisite_apps(
    one: SelectedComponent, apps: Mapping[str, tuple[App, ...]]
) -> tuple[App, ...]:
    """The last apps of the components that this one needs: whole components, not halves."""
    needed = one.scene.known.requires
    if one.scene.on(MONITORING) and one.component.phase is not Phase.DEFINITIONS:
        # Monitors and rules are refused until their kinds are known.
        needed = (*needed, MONITORING)
    return tuple(apps[name][-1] for name in needed if apps.get(name))


def find_app(app: App, name: str, by_name: Mapping[str, App]) -> App:
    """The app that another one waits for; refuses a name that nobody has."""
    found = by_name.get(name)
    if found is None:
        raise Refused(
            Problem(
                code="render.dangling",
                what=f"the app {app.name} waits for {name}, which is not rendered",
                why="Flux would wait for ever",
                fix=f"turn on the component that brings {name}",
            )
        )
    return found


def _unique(apps: tuple[App, ...]) -> tuple[App, ...]:
    return tuple({app.name: app for app in apps}.values())


def reject_cycles(waits: Mapping[str, tuple[App, ...]]) -> None:
    """Refuse apps that wait for each other."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " -> ".join((*path[path.index(name) :], name))
            raise Refused(
                Problem(
                    code="render.circle",
                    what="components wait for each other",
                    why=f"{circle}: none of them would ever start",
                    fix="remove one of these dependencies",
                )
            )
        if name not in done:
            for one in waits.get(name, ()):
                visit(one.name, (*path, name))
            done.add(name)

    for name in waits:
        visit(name, ())


def _duplicate_app(name: str, owner: str) -> Problem:
    return Problem(
        code="render.name",
        what=f"{owner} has an app named {name}, and so has another component",
        why="names of apps are unique in the whole cluster",
        fix="turn one of the components off",
    )
