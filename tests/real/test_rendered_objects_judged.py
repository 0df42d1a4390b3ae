"""Rendered repositories are judged by kustomize, flux, kubeconform and a real kube-apiserver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.write_object_schemas import tables
from stockman.rendering.checks.kinds import SHAPES, find_faults, load_kind
from tests.real.rendered.estates import SOME, Estate, repository
from tests.real.rendered.judging import SKIPPED, Judges, Object, judges, listed, objects_of
from tools.pytest_plugin import RealTool

COMMON = ("apiVersion", "kind", "metadata", "status")


def one_of_each() -> list[Object]:
    """One object of every kind that is rendered."""
    found = (one for estate in SOME for one in objects_of(repository(estate)))
    return list({(one["apiVersion"], one["kind"]): one for one in found}.values())


def own(one: Object) -> Object:
    return {name: item for name, item in one.items() if name not in COMMON}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Judges]:
    with judges(tmp_path_factory.mktemp("judges"), real_tool) as found:
        yield found


@pytest.mark.parametrize("estate", SOME, ids=str)
def test_every_object_of_a_repository_is_built_valid_and_accepted(
    bench: Judges, tmp_path: Path, estate: Estate
) -> None:
    verdict = bench.judge(repository(estate), tmp_path)

    assert verdict.invalid == []
    assert verdict.refused == []
    assert verdict.skipped <= SKIPPED.keys()
    assert verdict.apps >= len(repository(estate).apps)
    assert verdict.objects > verdict.apps


def test_the_tables_of_kinds_are_those_of_the_projects(bench: Judges) -> None:
    written = {
        str(path.relative_to(SHAPES)): path.read_text()
        for path in SHAPES.rglob("*.json")
        if path.parent.name != "kustomize.config.k8s.io"
    }

    assert tables(bench.server) == written


def test_where_kubeconform_finds_an_unknown_field_so_do_the_tables(
    bench: Judges, tmp_path: Path
) -> None:
    broken = [{**one, "meadow": 1} for one in one_of_each()]

    invalid, skipped = bench.kubeconform(listed(broken, tmp_path))

    assert skipped == set()
    assert len(invalid) == len(broken)
    for one in broken:
        known = load_kind(one["apiVersion"], one["kind"])
        assert known is not None
        assert [fault.path for fault in find_faults(own(one), known)] == [".meadow"]


def test_the_server_refuses_what_does_not_fit(bench: Judges, tmp_path: Path) -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "meadow"}}
    broken = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "HelmRepository",
        "metadata": {"name": "one", "namespace": "meadow"},
        "spec": {"interval": "often", "url": "https://127.0.0.1"},
    }

    refused = bench.refused([space, broken], listed([space, broken], tmp_path))

    assert any("spec.interval" in line for line in refused)
