"""Objects out of trees of files."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.flux.kustomize.building import built
from stockman_lab.kube.flux.kustomize.documents import BuildFailure
from stockman_lab.kube.flux.kustomize.files import Files

_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: feed}\n"
_POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
    "  - {name: one, image: 'wool:1', envFrom: [{configMapRef: {name: feed}}]}\n"
    "  - {name: two, image: felt}\n"
)


def made(**files: str) -> list[Any]:
    contents = {
        f"{name.replace('__', '/')}.yaml": text.encode()
        for name, text in ({"a": _MAP, "p": _POD} | files).items()
    }
    return built(Files(contents), "")


def by_kind(result: list[Any], kind: str) -> Any:
    return next(item for item in result if item["kind"] == kind)


def test_what_lies_in_no_namespace_gets_none() -> None:
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"
    result = made(n=node, kustomization="resources: [a.yaml, n.yaml]\nnamespace: hill\n")
    assert by_kind(result, "ConfigMap")["metadata"]["namespace"] == "hill"
    assert "namespace" not in by_kind(result, "Node")["metadata"]


@pytest.mark.parametrize("kind", ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"])
def test_kinds_that_kustomize_does_not_know_get_a_namespace(kind: str) -> None:
    policy = f"apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: n}}\n"
    result = made(n=policy, kustomization="resources: [a.yaml, n.yaml]\nnamespace: hill\n")
    assert by_kind(result, kind)["metadata"]["namespace"] == "hill"


def test_a_patch_merges_containers_by_their_names() -> None:
    patch = (
        "resources: [p.yaml]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: Pod\n"
        "    metadata: {name: p}\n    spec: {containers: [{name: two, image: silk}]}\n"
    )
    containers = by_kind(made(kustomization=patch), "Pod")["spec"]["containers"]
    assert [(container["name"], container["image"]) for container in containers] == [
        ("one", "wool:1"),
        ("two", "silk"),
    ]


def test_components_change_what_is_there_already() -> None:
    result = made(
        kustomization="resources: [a.yaml]\ncomponents: [part]\n",
        part__kustomization=(
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
            "patches: [{patch: '[{op: add, path: /data, value: {a: b}}]',"
            " target: {kind: ConfigMap}}]\n"
        ),
    )
    assert result[0]["data"] == {"a": "b"}


@pytest.mark.parametrize(
    ("kustomization", "words"),
    [
        ("resources: [x.yaml]\n", "no such file or directory"),
        ("resources: [a.yaml, a.yaml]\n", "already registered id: ConfigMap/feed"),
        ("resources: [.]\n", "cycle detected"),
        ("resources: ['https://example.org/x.yaml']\n", "the remote resource https://example.org"),
        ("helmCharts: [{name: x}]\n", "field helmCharts of a kustomization is not simulated"),
    ],
)
def test_what_cannot_be_built_is_told(kustomization: str, words: str) -> None:
    with pytest.raises(BuildFailure) as failure:
        made(kustomization=kustomization)
    assert words in str(failure.value)


def test_nothing_outside_of_the_tree_is_read() -> None:
    with pytest.raises(BuildFailure, match="no such file"):
        made(kustomization="resources: [../../../etc/passwd]\n")
