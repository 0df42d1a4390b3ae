"""Selectors of labels and fields."""

from __future__ import annotations

import pytest
from stockman_lab.kube.api.selectors import read_field_selector, read_label_selector
from stockman_lab.kube.failures import Failure


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "c"}, False),
        ("a!=b", {}, True),
        ("a in (b, c)", {"a": "c"}, True),
        ("a notin (b,c)", {"a": "c"}, False),
        ("a notin (b,c)", {}, True),
        ("a", {"a": ""}, True),
        ("!a", {"a": ""}, False),
        ("a=b,c!=d", {"a": "b", "c": "d"}, False),
        ("a=", {"a": ""}, True),
        ("", {}, True),
    ],
)
def test_labels_are_matched(text: str, labels: dict[str, str], expected: bool) -> None:
    assert read_label_selector(text).matches(labels) is expected


@pytest.mark.parametrize("text", ["a b", "a in b", "a in (b", "a,", "=b", "!"])
def test_selectors_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(Failure):
        read_label_selector(text)


def test_fields_are_matched() -> None:
    pod = {
        "metadata": {"name": "a"},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    }
    text = "spec.nodeName=n,status.phase!=Failed,status.podIP=10.0.0.1"

    assert read_field_selector(text, "", "pods").matches(pod)
    assert not read_field_selector("metadata.name=b", "", "pods").matches(pod)


def test_fields_that_a_kind_does_not_have_are_refused() -> None:
    with pytest.raises(Failure) as refused:
        read_field_selector("spec.replicas=1", "apps", "deployments")

    assert refused.value.message == "field label not supported: spec.replicas"
