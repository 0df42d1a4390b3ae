"""Secrets of Kubernetes whose values anybody can read."""

import pytest

from stockman.rendering.checks.plain_secrets import find_plain_secrets

HEAD = "apiVersion: v1\nkind: Secret\nmetadata: {name: echo}\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "stringData: {password: a-word}\n",
        HEAD + "data:\n  password: YS13b3Jk\n",
        "a: 1\n---\n" + HEAD + "stringData: {password: a-word}\n",
        HEAD.replace("Secret", '"Secret"') + "stringData: {password: a-word}\n",
        '{"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "a-word"}}',
        "apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: Secret, data: {a: Yg==}}\n",
        HEAD + "stringData: {url: 'https://me:${PASSWORD}@x'}\n",
    ],
)
def test_a_plain_value_is_found(text: str) -> None:
    (problem,) = find_plain_secrets("kubernetes/a.yaml", text)

    assert problem.code == "leak.plain-secret"
    assert "a-word" not in str(problem)


@pytest.mark.parametrize(
    "text",
    [
        HEAD,
        HEAD + "stringData: {}\n",
        HEAD + "stringData: {password: ''}\n",
        HEAD + "stringData: {password: 'ENC[AES256_GCM,data:x,type:str]'}\n",
        HEAD + "stringData: {password: '${PASSWORD}'}\n",
        HEAD.replace("v1", "other.example/v1") + "data: {a: b}\n",
        "kind: Kustomization\nspec: {target: {kind: Secret}}\n",
        "kind: Secret\ndata: {{ .Values.secret }}\n  x",
    ],
)
def test_what_has_no_plain_value_is_not_reported(text: str) -> None:
    assert list(find_plain_secrets("a.yaml", text)) == []


def test_the_position_is_that_of_the_key() -> None:
    (problem,) = find_plain_secrets("a.yaml", HEAD + "stringData:\n  password: a-word\n")

    assert str(problem.where) == "a.yaml:5:3"
