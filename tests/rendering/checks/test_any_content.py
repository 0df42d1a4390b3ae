"""The checks end with problems, never with an error of ours, whatever a template makes."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stockman.rendering.checks.kinds import SHAPES
from tests.rendering.checks.trees import app, judged

KINDS = sorted(str(path.relative_to(SHAPES)) for path in SHAPES.rglob("*.json"))
NAMES = st.sampled_from(
    ["spec", "metadata", "image", "images", "containers", "secretRef", "name", "dependsOn", "data"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES | st.integers() | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)

MULTIPLIED = "  a0: &a0 [1]\n" + "".join(
    f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@given(kind=st.sampled_from(KINDS), content=st.dictionaries(NAMES, VALUES, max_size=5))
def test_every_object_is_judged(kind: str, content: dict[str, object]) -> None:
    group, _, file = kind.partition("/")
    name, _, version = file.removesuffix(".json").partition("_")
    api = version if group == "core" else f"{group}/{version}"
    text = yaml.safe_dump({"apiVersion": api, "kind": name.capitalize(), **content})

    judged(app(text))


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: ConfigMap\nmetadata: &a {name: b, c: *a}\n",
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: b}}\ndata:\n{MULTIPLIED}",
        f"apiVersion: v1\nkind: ConfigMap\ndata: {'[' * 5000}{']' * 5000}\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {a: 2024-13-45}\n",
    ],
    ids=["into-itself", "multiplied", "deep", "no-date"],
)
def test_a_file_that_would_never_end_is_reported(text: str) -> None:
    assert "render.not-yaml" in [problem.code for problem in judged(app(text))[1]]
