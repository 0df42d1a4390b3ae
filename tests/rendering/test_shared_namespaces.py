"""Namespaces with apps of the user and of the catalog."""

from __future__ import annotations

import pytest

from stockman.catalog.app import App
from stockman.model.problem import Problems
from stockman.rendering.applications import OrderedApp, check_shared_namespaces
from stockman.rendering.managed_files import FileAction, FileChange

OURS = b"resources: [./namespace.yaml, ./echo/ks.yaml]\n"
BOTH = b"resources:\n  - ./namespace.yaml\n  - ./echo/ks.yaml\n  - mine/ks.yaml\n"
MINE = b"resources: [./mine/ks.yaml]\n"
APP = "kubernetes/apps/default/mine/ks.yaml"


def codes(act: FileAction, before: bytes | None, after: bytes | None, *own: str) -> list[str]:
    app = App(name="echo", namespace="default", sheets=())
    placed = OrderedApp(owner="echo", folder="echo", app=app, after=(), waited_for=False)
    path = "kubernetes/apps/default/kustomization.yaml"
    action = FileChange(path=path, act=act, component="repository", before=before, after=after)
    problems = Problems()
    check_shared_namespaces((placed,), (action,), own, problems)
    return [problem.code for problem in problems]


def test_a_list_of_the_user_without_our_apps_is_told() -> None:
    assert codes(FileAction.FOREIGN, MINE, OURS, APP) == ["render.namespace-taken"]


@pytest.mark.parametrize("broken", [b"", b"\xff", b"resources: [", b"resources: ./echo/ks.yaml"])
def test_a_list_that_cannot_be_read_lists_nothing(broken: bytes) -> None:
    assert codes(FileAction.FOREIGN, broken, OURS) == ["render.namespace-taken"]


def test_a_list_of_the_user_with_our_apps_is_fine() -> None:
    assert codes(FileAction.FOREIGN, BOTH, OURS, APP) == []


@pytest.mark.parametrize("act", [FileAction.CREATE, FileAction.KEEP, FileAction.UPDATE])
def test_an_app_of_the_user_that_our_list_lacks_is_told(act: FileAction) -> None:
    assert codes(act, BOTH, OURS, APP) == ["render.app-unlisted"]


@pytest.mark.parametrize("act", [FileAction.EDITED, FileAction.ACCEPT, FileAction.ACCEPTED])
def test_of_a_list_that_is_kept_the_users_version_counts(act: FileAction) -> None:
    assert codes(act, BOTH, OURS, APP) == []
    assert codes(act, OURS, BOTH, APP) == ["render.app-unlisted"]


@pytest.mark.parametrize(
    "path",
    [
        "kubernetes/apps/default/mine/app/ks.yaml",
        "kubernetes/apps/default/notes.yaml",
        "kubernetes/apps/media/mine/ks.yaml",
    ],
)
def test_other_files_of_the_user_need_no_list(path: str) -> None:
    assert codes(FileAction.KEEP, OURS, OURS, path) == []
