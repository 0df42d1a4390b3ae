"""`kubernetes/apps`: namespaces, components, their apps, and apps of the user beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockman.catalog.app import App, Sheet
from stockman.catalog.component import Phase
from stockman.catalog.objects import MONITORING
from stockman.catalog.selection import SelectedComponent
from stockman.catalog.talos_access import add_access_policy
from stockman.model.errors import Refused
from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.rendering.flux import app_kustomization, flux_kustomization, namespace_sheets
from stockman.rendering.kustomization import list_entries
from stockman.rendering.managed_files import FileAction, FileChange
from stockman.rendering.tree import REPOSITORY, RenderedFile, render_sheet

APPS = "kubernetes/apps"


def application_files(
    placed: Iterable[OrderedApp], security: dict[str, str]
) -> Iterator[RenderedFile]:
    """Return all files of apps; `security` is the pod security level by namespace."""
    folders: dict[str, dict[str, list[OrderedApp]]] = {}
    for app in placed:
        folders.setdefault(app.app.namespace, {}).setdefault(app.folder, []).append(app)
    for namespace, members in folders.items():
        for sheet in namespace_sheets(namespace, security.get(namespace, ""), members):
            yield render_sheet(f"{APPS}/{namespace}/{sheet.name}", REPOSITORY, sheet)
        for folder, apps in members.items():
            yield from _component_files(f"{APPS}/{namespace}/{folder}", apps)


def _component_files(directory: str, apps: list[OrderedApp]) -> Iterator[RenderedFile]:
    owner = apps[0].owner
    entry = Sheet(
        name="ks.yaml",
        objects=tuple(
            flux_kustomization(app.app, app.directory, app.after, waited_for=app.waited_for)
            for app in apps
        ),
    )
    yield render_sheet(f"{directory}/ks.yaml", owner, entry)
    for app in apps:
        for sheet in (app_kustomization(app.app), *app.app.sheets):
            yield render_sheet(f"{app.directory}/{sheet.name}", owner, sheet)


_ENTRY = pattern(rf"{APPS}/(?P<namespace>[^/]+)/(?P<app>[^/]+/ks\.yaml)")


def check_shared_namespaces(
    apps: Iterable[OrderedApp],
    actions: Iterable[FileChange],
    own: Iterable[str],
    problems: Problems,
) -> None:
    """Warn about apps that Flux would not apply.

    A namespace has one list of apps. If it is the user's, the apps of the catalog are missing from
    it; if it is rendered, the apps of the user are. `own` are the paths of the user's files.
    """
    lists = {change.path: change for change in actions}
    app_paths: dict[str, dict[str, str]] = {}
    for placed in apps:
        entries = app_paths.setdefault(placed.app.namespace, {})
        entries[f"{placed.folder}/ks.yaml"] = placed.owner
    for namespace, entries in app_paths.items():
        action = lists.get(_list(namespace))
        if action is not None and action.act is FileAction.FOREIGN:
            listed = list_entries((action.before or b"").decode(errors="replace"))
            missing = sorted({owner for entry, owner in entries.items() if entry not in listed})
            if missing:
                _user_app_conflict(namespace, missing, problems)
    _check_user_list(lists, own, problems)


def _check_user_list(
    lists: Mapping[str, FileChange], own: Iterable[str], problems: Problems
) -> None:
    for path in sorted(own):
        match = _ENTRY.fullmatch(path)
        action = lists.get(_list(match["namespace"])) if match is not None else None
        if (
            match is None
            or action is None
            or action.act is FileAction.FOREIGN
            or action.after is None
        ):
            continue
        kept = action.act in (FileAction.EDITED, FileAction.ACCEPT, FileAction.ACCEPTED)
        text = (action.before if kept else action.after) or b""
        if match["app"] not in list_entries(text.decode(errors="replace")):
            _missing_app_entry(path, action.path, match["app"], problems)


def _list(namespace: str) -> str:
    return f"{APPS}/{namespace}/kustomization.yaml"


def _user_app_conflict(namespace: str, components: list[str], problems: Problems) -> None:
    path = _list(namespace)
    problems.warn(
        "render.namespace-taken",
        f"the namespace {namespace} contains apps of yours and of the catalog",
        at=path,
        why=f"you maintain its list of apps, and it does not contain {', '.join(components)}",
        fix="move your apps to another namespace and use `--overwrite` for this list, or add "
        "the missing apps to it and use `--accept`",
    )


def _missing_app_entry(path: str, listed: str, entry: str, problems: Problems) -> None:
    problems.warn(
        "render.app-unlisted",
        f"Flux does not apply your app {path}",
        at=path,
        why=f"{listed} is rendered and does not contain ./{entry}",
        fix=f"move the app to another namespace, or add ./{entry} to that list and run "
        f"`stockman render --accept {listed}`",
    )


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
    apps = {
        item.component.name: add_access_policy(
            item.context, item.component.talos, tuple(item.component.apps(item.context))
        )
        for item in chosen
    }
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
