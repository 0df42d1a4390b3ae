"""What the user decided about files."""

from __future__ import annotations

import pytest

from stockman.model.errors import WrongUsage
from stockman.rendering.managed_files import FileDecisions, resolve_decisions

PATHS = ("kubernetes/apps/default/echo/ks.yaml", "kubernetes/flux/cluster/ks.yaml", "talos/a.yaml")


def overwritten(*wished: str) -> frozenset[str]:
    return resolve_decisions(FileDecisions(overwrite=frozenset(wished)), PATHS).overwrite


@pytest.mark.parametrize("path", [PATHS[0], f"./{PATHS[0]}", "kubernetes/./apps//default/echo/"])
def test_a_path_may_be_written_as_shells_complete_it(path: str) -> None:
    assert overwritten(path) == {PATHS[0]}


def test_a_directory_stands_for_the_files_in_it_and_no_others() -> None:
    assert overwritten("kubernetes") == {PATHS[0], PATHS[1]}
    assert overwritten("kubernetes/flux", "talos") == {PATHS[1], PATHS[2]}


@pytest.mark.parametrize("path", ["nothing", "talos/a", "kube", "../talos/a.yaml", "/talos/a.yaml"])
def test_a_path_at_which_nothing_is_rendered_is_refused(path: str) -> None:
    for decisions in (
        FileDecisions(overwrite=frozenset({path})),
        FileDecisions(accept=frozenset({path})),
    ):
        with pytest.raises(WrongUsage) as caught:
            resolve_decisions(decisions, PATHS)
        assert caught.value.problem.code == "render.path"


def test_a_file_cannot_be_both_kept_and_replaced() -> None:
    file_decisions = FileDecisions(
        overwrite=frozenset({"talos"}), accept=frozenset({"talos/a.yaml"})
    )

    with pytest.raises(WrongUsage, match=r"talos/a\.yaml is both overwritten and accepted"):
        resolve_decisions(file_decisions, PATHS)
