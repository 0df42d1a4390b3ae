"""`kubernetes/apps`: namespaces, components, their apps, and apps of the user beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockman.catalog.app import Sheet
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.rendering.app_order import OrderedApp
from stockman.rendering.flux import app_kustomization, flux_kustomization, namespace_sheets
from stockman.rendering.kustomization import list_entries
from stockman.rendering.managed_files import FileAction, FileChange
from stockman.rendering.sheets import render_sheet
from stockman.rendering.tree import REPOSITORY, RenderedFile

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
