"""Problems of rendering itself, made by broken input. What their pages are compared with."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stockman.adapters.file_tree import PathOutsideTree, read_files
from stockman.app.rendering import render as problems
from stockman.app.rendering.materials import TUNNEL, MaterialSource, read_materials
from stockman.app.secrets.keyring import Keyring
from stockman.catalog.app import App, Object, Sheet
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.rendering import applications
from stockman.rendering.applications import check_shared_namespaces
from stockman.rendering.managed_files import (
    FileAction,
    FileChange,
    FileDecisions,
    read_lock,
    resolve_decisions,
)
from stockman.rendering.repository import render_repository
from stockman.rendering.tree import FileTree, RenderedFile, render_sheet
from tests.catalog.estates import MATERIALS, wanted

_PATH = "kubernetes/apps/default/echo"


def refused(work: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as caught:
        work()
    return caught.value.problem


def _collision() -> object:
    return FileTree(
        RenderedFile(path=f"{_PATH}/ks.yaml", owner=owner, text="")
        for owner in ("echo", "reloader")
    )


def _leak() -> object:
    release: Object = {"kind": "HelmRelease", "spec": {"values": {"token": Secret("canary")}}}
    sheet = Sheet(name="helmrelease.yaml", objects=(release,))
    return render_sheet(f"{_PATH}/app/helmrelease.yaml", "echo", sheet)


def _out_of_tree() -> Problem:
    with TemporaryDirectory() as temporary_directory:
        root = Path(temporary_directory, "root")
        root.mkdir()
        (root / "kubernetes").symlink_to(temporary_directory)
        with pytest.raises(PathOutsideTree) as caught:
            read_files(root, ["kubernetes/flux/cluster/ks.yaml"])
    return problems.out_of_tree(caught.value)


def _material() -> object:
    with TemporaryDirectory() as temporary_directory:
        Path(temporary_directory, TUNNEL).write_text('{"AccountTag": "a"')
        where = MaterialSource(
            directory=Path(temporary_directory),
            dialect="classic",
            keyring=Keyring(),
            environment={},
        )
        return read_materials(where, wanted())


def _no_cluster() -> object:
    return render_repository(replace(wanted(), cluster=None), MATERIALS, "classic", Problems())


def _circle() -> None:
    a, b = (App(name=name, namespace="default", sheets=()) for name in ("a", "b"))
    applications.reject_cycles({"a": (b,), "b": (a,)})


def _dangling() -> object:
    app = App(name="envoy-gateway-config", namespace="network", sheets=())
    return applications.find_app(app, "cert-manager-config", {})


def _path() -> object:
    file_decisions = FileDecisions(overwrite=frozenset({"kubernetes/flux/ks.yaml"}))
    return resolve_decisions(
        file_decisions, ["kubernetes/flux/cluster/ks.yaml", "talos/talenv.yaml"]
    )


def _shared(act: FileAction, own: tuple[str, ...] = ()) -> Problem:
    app = App(name="k8s-gateway", namespace="network", sheets=())
    placed = applications.OrderedApp(
        owner="k8s-gateway", folder="k8s-gateway", app=app, after=(), waited_for=False
    )
    path = "kubernetes/apps/network/kustomization.yaml"
    text = b"resources: [./namespace.yaml]\n"
    action = FileChange(path=path, act=act, component="repository", before=text, after=text)
    problems = Problems()
    check_shared_namespaces((placed,), (action,), own, problems)
    (only,) = problems
    return only


def _name() -> object:
    app = App(name="echo", namespace="default", sheets=())
    return applications.apps_by_name({"echo": (app,), "meadow": (app,)})


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "render.app-unlisted": lambda: _shared(
        FileAction.KEEP, ("kubernetes/apps/network/mine/ks.yaml",)
    ),
    "render.circle": lambda: refused(_circle),
    "render.collision": lambda: refused(_collision),
    "render.dangling": lambda: refused(_dangling),
    "render.leak": lambda: refused(_leak),
    "render.lock": lambda: refused(lambda: read_lock("<<<<<<< ours\n")),
    "render.material": lambda: refused(_material),
    "render.name": lambda: refused(_name),
    "render.namespace-taken": lambda: _shared(FileAction.FOREIGN),
    "render.no-cluster": lambda: refused(_no_cluster),
    "render.out-of-tree": _out_of_tree,
    "render.path": lambda: refused(_path),
    "render.unreadable": lambda: problems.unreadable(
        PermissionError(errno.EACCES, "Permission denied", "/work/talos/talenv.yaml"), Path("/work")
    ),
    "render.unwritable": lambda: problems.unwritable(
        OSError(errno.ENOSPC, "No space left on device", "kubernetes")
    ),
}
