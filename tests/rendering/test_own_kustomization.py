"""A user's own list of apps."""

from __future__ import annotations

import pytest

from stockman.model.errors import Refused
from stockman.rendering.kustomization import add_entries

HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            f"{HEAD}resources:\n  - ./media # films\nnamespace: x\n",
            f"{HEAD}resources:\n  - ./media # films\n  - ./network\nnamespace: x\n",
            id="after the last, comments stay",
        ),
        pytest.param(
            f"{HEAD}resources:\n- media\n",
            f"{HEAD}resources:\n- media\n- ./network\n",
            id="as the others are indented",
        ),
        pytest.param(
            f"{HEAD}resources: [./media]  # all\n",
            f"{HEAD}resources: [./media, ./network]  # all\n",
            id="in brackets",
        ),
        pytest.param(
            f"{HEAD}resources: []\n", f"{HEAD}resources: [./network]\n", id="empty brackets"
        ),
        pytest.param(f"{HEAD}resources:\n", f"{HEAD}resources:\n  - ./network\n", id="no value"),
        pytest.param(HEAD, f"{HEAD}resources:\n  - ./network\n", id="no key"),
        pytest.param(
            f"{HEAD}resources:\n  - a", f"{HEAD}resources:\n  - a\n  - ./network\n", id="no end"
        ),
        pytest.param(
            "resources:\r\n  - a\r\n# end\r\n",
            "resources:\r\n  - a\r\n  - ./network\r\n# end\r\n",
            id="line ends of Windows",
        ),
    ],
)
def test_entries_are_added_and_nothing_else_changes(before: str, after: str) -> None:
    assert add_entries(before, ["./network"]) == after


@pytest.mark.parametrize("entry", ["network", "./network", "./network/", "'./network'"])
def test_entries_that_are_there_in_any_spelling_are_not_added_again(entry: str) -> None:
    text = f"{HEAD}resources:\n  - {entry}\n"
    assert add_entries(text, ["./network"]) == text


def test_several_entries_keep_their_order() -> None:
    entries = add_entries("resources: [a]\n", ["./b", "./a", "./c"])
    assert entries == "resources: [a, ./b, ./c]\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("resources: [a\n", "yaml.syntax", id="no YAML"),
        pytest.param("resources: ./a\n", "render.own-kustomization", id="no list"),
        pytest.param("resources:\n  - {a: b}\n", "render.own-kustomization", id="no path"),
    ],
)
def test_what_cannot_be_extended_is_refused(text: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        add_entries(text, ["./network"])
    assert refused.value.problem.code == code
