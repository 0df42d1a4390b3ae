"""Variables in texts."""

from __future__ import annotations

import pytest
from stockman_lab.kube.flux.kustomize.documents import BuildFailure
from stockman_lab.kube.flux.manifests import check_names, substituted, with_variables

_VARIABLES = {"A": "wool.felt", "EMPTY": "", "N": "3"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("${A} $A", "wool.felt $A"),
        ("${NONE}|${NONE:=d}|${EMPTY:-d}|${A:=d}", "|d|d|wool.felt"),
        ("${A/./-} ${A//l/L}", "wool-felt wooL.feLt"),
        ("$${A} $$", "${A} $"),
    ],
)
def test_expressions_become_values(text: str, found: str) -> None:
    assert substituted(text, _VARIABLES) == found


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(BuildFailure, match="variable substitution failed"):
        substituted("${A", _VARIABLES)


def test_a_name_that_no_text_can_say_is_refused() -> None:
    with pytest.raises(BuildFailure, match="'A-B' var name is invalid"):
        check_names({"A-B": "c"})


def test_a_word_may_become_a_number() -> None:
    content = {"kind": "A", "metadata": {"name": "x"}, "spec": {"replicas": "${N}", "b": "n${N}"}}
    assert with_variables(content, _VARIABLES)["spec"] == {"replicas": 3, "b": "n3"}


def test_an_object_may_want_no_variables() -> None:
    switch = {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}
    content = {"kind": "A", "metadata": {"name": "${N}", "labels": switch}}
    assert with_variables(content, _VARIABLES) == content
