"""Arguments, scripts, values and blanks, as they are read."""

from __future__ import annotations

import pytest
from stockman_lab.kube.helm import chart as charts
from stockman_lab.kube.helm.command import BadCommand, read_command
from stockman_lab.kube.helm.filling import Scope, filled
from stockman_lab.kube.helm.release import Release, read_release
from stockman_lab.kube.helm.scripts import NotUnderstood, calls
from stockman_lab.kube.helm.values import BadValues, merged, read_values, set_values


def test_arguments_are_flags_options_and_names() -> None:
    command = read_command(["upgrade", "-i", "a", "b", "--version=1", "-n", "c", "--wait=false"])
    assert (command.name, command.arguments, command.flags) == ("upgrade", ["a", "b"], {"install"})
    assert (command.option("version"), command.option("namespace")) == ("1", "c")
    assert read_command(["upgrade", "--timeout", "1m30s"]).seconds == 90.0
    with pytest.raises(BadCommand, match="time: invalid duration"):
        assert read_command(["upgrade", "--timeout", "soon"]).seconds


def test_scripts_are_calls_with_their_variables_and_texts() -> None:
    script = "set -e\nA=b\nhelm version; helm upgrade $A ${C:-d} -f - <<EOF\nx: $A\nEOF\n"
    first, second = calls(["sh", "-c", script], {})
    assert first.words == ("helm", "version")
    assert (second.words, second.text) == (("helm", "upgrade", "b", "d", "-f", "-"), "x: b\n")
    assert calls(["helm", "$(A)"], {"A": "b"})[0].words == ("helm", "b")
    with pytest.raises(NotUnderstood):
        calls(["sh"], {})


def test_values_lie_over_each_other() -> None:
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}) == {"a": {"c": 2, "d": 3}}
    found = set_values("a.b=1,c[1].d=x,e={y,z},f\\.g=true", {"c": [{"d": "w"}]})
    assert found == {"a": {"b": 1}, "c": [{"d": "w"}, {"d": "x"}], "e": ["y", "z"], "f.g": True}
    assert set_values("a=1", is_text=True) == {"a": "1"}
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
    place = "oci://quay.io/jetstack/charts/cert-manager"
    known = charts.known(place, "v1.21.1")
    assert known is not None
    assert known.app_version == "v1.21.1"
    assert charts.known(place, "1.21.1") is None
    assert charts.known(place, "v2.0.0") is None
    assert charts.known(f"{place}s", "v1.21.1") is None
    assert charts.known_in("https://charts.jetstack.io", "cert-manager") == known


def test_sources_can_ask_what_there_is() -> None:
    assert charts.is_known("oci://quay.io/cilium/charts/cilium", "1.20.1")
    assert charts.is_known("https://charts.rook.io/release")
    assert charts.is_known("https://charts.rook.io/release/rook-ceph", "v1.20.6")
    assert not charts.is_known("https://charts.rook.io/release/rook-ceph", "v9.0.0")
    assert not charts.is_known("https://charts.example")
    assert charts.tags("https://charts.rook.io/release/rook-ceph") == ["v1.20.6"]
    assert charts.tags("oci://quay.io/cilium/charts/cilium") == ["1.20.1"]
