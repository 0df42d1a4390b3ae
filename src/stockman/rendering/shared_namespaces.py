"""Namespaces in which a user has apps beside those of the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.rendering.applications import APPS
from stockman.rendering.arrangement import Placed
from stockman.rendering.own_kustomization import entries_of
from stockman.rendering.ownership import Act, Action

_ENTRY = pattern(rf"{APPS}/(?P<namespace>[^/]+)/(?P<app>[^/]+/ks\.yaml)")


def check_shared_namespaces(
    apps: Iterable[Placed], actions: Iterable[Action], own: Iterable[str], problems: Problems
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
        if action is not None and action.act is Act.FOREIGN:
            listed = entries_of((action.before or b"").decode(errors="replace"))
            missing = sorted({owner for entry, owner in entries.items() if entry not in listed})
            if missing:
                _taken(namespace, missing, problems)
    _check_own(lists, own, problems)


def _check_own(lists: Mapping[str, Action], own: Iterable[str], problems: Problems) -> None:
    for path in sorted(own):
        found = _ENTRY.fullmatch(path)
        action = lists.get(_list(found["namespace"])) if found is not None else None
        if found is None or action is None or action.act is Act.FOREIGN or action.after is None:
            continue
        kept = action.act in (Act.EDITED, Act.ACCEPT, Act.ACCEPTED)
        text = (action.before if kept else action.after) or b""
        if found["app"] not in entries_of(text.decode(errors="replace")):
            _unlisted(path, action.path, found["app"], problems)


def _list(namespace: str) -> str:
    return f"{APPS}/{namespace}/kustomization.yaml"


def _taken(namespace: str, components: list[str], problems: Problems) -> None:
    path = _list(namespace)
    problems.warn(
        "render.namespace-taken",
        f"the namespace {namespace} has apps of yours and of the catalog",
        at=path,
        why=f"this list of its apps is yours, and Flux does not see {', '.join(components)}",
        fix="move your apps to a namespace of their own and let `--overwrite` take our list,"
        " or add ours to yours and let `--accept` keep it",
    )


def _unlisted(path: str, listed: str, entry: str, problems: Problems) -> None:
    problems.warn(
        "render.app-unlisted",
        f"{path} is an app of yours that Flux does not see",
        at=path,
        why=f"{listed} is rendered, and does not name ./{entry}",
        fix="move the app to a namespace of its own,"
        f" or add ./{entry} to that list and run `stockman render --accept {listed}`",
    )
