"""Values and blanks, as they are read."""

from __future__ import annotations

import pytest
from stockman_lab.kube.helm import chart as charts
from stockman_lab.kube.helm.filling import Scope, filled
from stockman_lab.kube.helm.release import Release, read_release
from stockman_lab.kube.helm.values import BadValues, merged, read_values, set_values


def test_values_lie_over_each_other() -> None:
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}) == {"a": {"c": 2, "d": 3}}
    assert set_values("a.b=1", {"a": {"c": True}}) == {"a": {"b": 1, "c": True}}
    with pytest.raises(BadValues, match="failed to parse x: error converting YAML to JSON"):
        read_values("a: [", "x")


def test_blanks_are_filled_with_what_they_stand_for() -> None:
    scope = Scope({"name": "wool", "app": "1"}, {"a": {"b": 2}, "c": [{"d": "x"}, {"d": "y"}]})
    tree = {
        "{name}": "{.a.b}",
        "text": "{name}:{.none|v@app}",
        "gone": "{.none}",
        "list": [
            {"one": "{item.d}", "each": "{.c}"},
            {"two": 1, "when": "{.none|false}"},
            {"three": 1, "unless": "{.none|false}"},
        ],
    }
    assert filled(tree, scope) == {
        "wool": 2,
        "text": "wool:v1",
        "list": [{"one": "x"}, {"one": "y"}, {"three": 1}],
    }


def test_a_release_is_read_as_it_was_written() -> None:
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    release = Release("a", "b", 3, {"name": "c"}, {"d": 1}, [content], 1e9, 1e9 + 0.5, "deployed")
    secret = release.secret(1e9, is_new=True)
    assert secret["metadata"]["name"] == "sh.helm.release.v1.a.v3"
    assert read_release(secret) == release
    assert read_release({"data": {"release": "bm9uZQ=="}}) is None


def test_charts_are_known_by_their_places_and_versions() -> None:
    key = "oci://quay.io/jetstack/charts/cert-manager"
    known = charts.known(key, "v1.21.1")
    assert known is not None
    assert known.app_version == "v1.21.1"
    assert charts.known(key, "1.21.1") is None
    assert charts.known(key, "v2.0.0") is None
    assert charts.known(f"{key}s", "v1.21.1") is None
    assert charts.known_in("https://charts.jetstack.io", "cert-manager") == known
