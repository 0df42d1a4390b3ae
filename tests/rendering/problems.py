"""Problems of files around the apps, made by broken input. What their pages are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Problems
from stockman.rendering.bootstrap import bootstrap_secrets
from stockman.rendering.kustomization import add_entries
from stockman.rendering.talos_files import talos_files
from stockman.talos.patches.patch import Patch
from tests.catalog.estates import MATERIALS
from tests.rendering.checks import problems as checks_problems
from tests.rendering.shapes import shaped

OPERATIONS = Patch(
    label="talos/own.yaml",
    file="talos/own.yaml",
    text="- op: remove\n  path: /machine/time\n",
)


def _told(read: Callable[[Problems], object]) -> Problem:
    problems = Problems()
    read(problems)
    (only,) = problems
    return only


def _deploy_key(problems: Problems) -> None:
    cluster = shaped(visibility="private").cluster
    assert cluster is not None
    list(bootstrap_secrets(cluster, replace(MATERIALS, deploy_key=None), "classic", problems))


def _contract(problems: Problems) -> None:
    desired = shaped(talos="1.14.1")
    list(talos_files(desired, "classic", {}, problems))


def _operations(problems: Problems) -> None:
    desired = shaped()
    list(talos_files(desired, "toml", {desired.nodes[0].name: (OPERATIONS,)}, problems))


def _own_kustomization() -> Problem:
    with pytest.raises(StockmanError) as refused:
        add_entries("resources: ./media\n", ["./network"])
    return refused.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "render.own-kustomization": _own_kustomization,
    "render.talos-contract": lambda: _told(_contract),
    "repository.deploy-key-missing": lambda: _told(_deploy_key),
    "topf.operations": lambda: _told(_operations),
    **checks_problems.MADE_BY_CALL,
}
