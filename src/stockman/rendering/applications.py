"""`kubernetes/apps`: namespaces, components and their apps."""

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
    """Every file below the apps' directory; `security`: pod security level by namespace."""
    folders: dict[str, dict[str, list[OrderedApp]]] = {}
    for one in placed:
        folders.setdefault(one.app.namespace, {}).setdefault(one.folder, []).append(one)
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
            flux_kustomization(one.app, one.directory, one.after, waited_for=one.waited_for)
            for one in apps
        ),
    )
    yield render_sheet(f"{directory}/ks.yaml", owner, entry)
    for one in apps:
        for sheet in (app_kustomization(one.app), *one.app.sheets):
            yield render_sheet(f"{one.directory}/{sheet.name}", owner, sheet)


_ENTRY = pattern(rf"{APPS}/(?P<namespace>[^/]+)/(?P<app>[^/]+/ks\.yaml)")


def check_shared_namespaces(
    apps: Iterable[OrderedApp],
    actions: Iterable[FileChange],
    own: Iterable[str],
    problems: Problems,
) -> None:
    """Tell which apps Flux would not see.

    A namespace has one list of apps. Where it is the user's, those of the catalog are missing;
    where it is ours, those of the user. `own` are the paths of the user's files.
    """
    lists = {one.path: one for one in actions}
    wanted: dict[str, dict[str, str]] = {}
    for placed in apps:
        entries = wanted.setdefault(placed.app.namespace, {})
        entries[f"{placed.folder}/ks.yaml"] = placed.owner
    for namespace, entries in wanted.items():
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
        found = _ENTRY.fullmatch(path)
        action = lists.get(_list(found["namespace"])) if found is not None else None
        if (
            found is None
            or action is None
            or action.act is FileAction.FOREIGN
            or action.after is None
        ):
            continue
        kept = action.act in (FileAction.EDITED, FileAction.ACCEPT, FileAction.ACCEPTED)
        text = (action.before if kept else action.after) or b""
        if found["app"] not in list_entries(text.decode(errors="replace")):
            _missing_app_entry(path, action.path, found["app"], problems)


def _list(namespace: str) -> str:
    return f"{APPS}/{namespace}/kustomization.yaml"


def _user_app_conflict(namespace: str, components: list[str], problems: Problems) -> None:
    path = _list(namespace)
    problems.warn(
        "render.namespace-taken",
        f"the namespace {namespace} has apps of yours and of the catalog",
        at=path,
        why=f"this list of its apps is yours, and Flux does not see {', '.join(components)}",
        fix="move your apps to a namespace of their own and let `--overwrite` take our list,"
        " or add ours to yours and let `--accept` keep it",
    )


def _missing_app_entry(path: str, listed: str, entry: str, problems: Problems) -> None:
    problems.warn(
        "render.app-unlisted",
        f"{path} is an app of yours that Flux does not see",
        at=path,
        why=f"{listed} is rendered, and does not name ./{entry}",
        fix="move the app to a namespace of its own,"
        f" or add ./{entry} to that list and run `stockman render --accept {listed}`",
    )
