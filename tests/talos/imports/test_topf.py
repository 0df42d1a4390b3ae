"""Directories of topf users become our files, and nothing is lost without a word."""

from __future__ import annotations

import pytest

from stockman.config.load import load
from stockman.config.rules import check_rules
from tests.fast_yaml import load_yaml
from tests.talos.imports.adopting import from_topf
from tests.talos.imports.topf_directories import meadow

SEALED = "ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]"
LINES = ["1.12", "1.13", "1.14"]
"""HostnameConfig, which its patches hold, is there from 1.12 on."""


@pytest.mark.parametrize("to_toml", [False, True])
@pytest.mark.parametrize("line", LINES)
def test_the_result_is_valid(line: str, to_toml: bool) -> None:
    result = from_topf(meadow(line), to_toml=to_toml)

    loaded = load({file: text.encode() for file, text in result.files.items()})
    check_rules(loaded)
    assert [str(error) for error in loaded.problems.errors] == []
    assert result.to_fill == ()


def test_the_bond_keeps_its_name_and_everything_else_is_a_key() -> None:
    nodes = load_yaml(from_topf(meadow("1.13")).files["nodes.yaml"])["nodes"]

    assert [{key: node[key] for key in node if key != "talos"} for node in nodes] == [
        {
            "name": "cp-1",
            "address": "127.66.0.21",
            "controller": True,
            "disk": "/dev/sda",
            "mac_addr": "bc:24:11:00:00:21",
            "schematic_id": "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
        },
        {
            "name": "work-1",
            "address": "127.66.0.31",
            "controller": False,
            "disk": "SERIAL-1",
            "mac_addr": "bc:24:11:00:00:31",
            "schematic_id": "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
        },
    ]
    bonds = [
        patch
        for node in nodes
        for patch in node["talos"]["patches"]
        if patch.get("kind") == "BondConfig"
    ]
    assert [(bond["name"], bond["mtu"], bond["links"]) for bond in bonds] == [
        ("bond0", 9000, ["ethSel0"])
    ] * 2


def test_our_own_order_needs_no_key() -> None:
    assert "patch_order" not in from_topf(meadow("1.13")).files["cluster.yaml"]


def test_a_patch_that_another_one_has_to_precede_moves_with_it() -> None:
    files = meadow("1.13")
    files["all/70-a.yaml.tpl"] = "machine: {sysctls: {a: '{{ .Node.Host }}'}}\n"
    files["all/71-b.yaml"] = "machine: {sysctls: {a: 'b', c: 'd'}}\n"

    result = from_topf(files)

    nodes = load_yaml(result.files["nodes.yaml"])["nodes"]
    assert [node["talos"]["patches"][-2:] for node in nodes[:1]] == [
        [{"machine": {"sysctls": {"a": "cp-1"}}}, {"machine": {"sysctls": {"a": "b", "c": "d"}}}]
    ]
    assert "v1alpha1 machine.sysctls.a" not in [differ.what for differ in result.differs]


def test_every_key_and_every_file_is_accounted_for() -> None:
    files = meadow("1.13")
    source = load_yaml(files["topf.yaml"])

    keys = [converted.key for converted in from_topf(files).carried]

    expected_keys = [*source, *(name for name in files if name != "topf.yaml")]
    expected_keys += [f"nodes[{n}].{key}" for n, node in enumerate(source["nodes"]) for key in node]
    assert [key for key in expected_keys if key not in keys] == []


def test_a_schematic_in_a_file_becomes_its_extensions() -> None:
    files = meadow("1.13")
    files["topf.yaml"] = files["topf.yaml"].replace(
        "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515", "@image.yaml.tpl"
    )
    files["image.yaml.tpl"] = (
        "customization: {systemExtensions: {officialExtensions: [siderolabs/{{ .Data.region }}]}}\n"
    )

    nodes = load_yaml(from_topf(files).files["nodes.yaml"])["nodes"]

    assert nodes[0]["talos"]["extensions"] == ["siderolabs/meadow-1"]


@pytest.mark.parametrize(
    ("name", "text", "code", "where"),
    [
        ("topf.yaml", "a: [", "yaml.syntax", "topf.yaml:2:1"),
        ("topf.yaml", "nodes: []\n", "config.missing-key", "topf.yaml:1:1"),
        (
            "all/00-install.yaml.tpl",
            "a: {{ .No }}",
            "import.template",
            "all/00-install.yaml.tpl:1:4",
        ),
        ("all/22-time.yaml", "- {op: add}", "patch.form", "all/22-time.yaml:1:1"),
        ("all/22-time.yaml", "machine:\n  nosuch: 1\n", "patch.field", "all/22-time.yaml:2:3"),
        ("all/22-time.yaml", "machine: {", "patch.unreadable", "all/22-time.yaml:2:1"),
    ],
)
def test_what_is_broken_is_told_with_its_place(name: str, text: str, code: str, where: str) -> None:
    problem = from_topf({**meadow("1.13"), name: text}).problems.errors[0]

    assert (problem.code, str(problem.where)) == (code, where)


def test_an_encrypted_patch_is_left_out() -> None:
    files = {
        **meadow("1.13"),
        "all/99.sops.yaml": f"machine: {{env: {{A: '{SEALED}'}}}}\nsops: {{}}\n",
    }

    result = from_topf(files)

    assert [
        converted.state for converted in result.carried if converted.key == "all/99.sops.yaml"
    ] == ["left out"]
    assert "ENC[" not in "".join(result.files.values())
