"""`talconfig.yaml` is judged by talhelper: it has to make of it the machines that we make."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired, Node
from stockman.talos.go_yaml import dump
from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.schema import plain_value
from stockman.talos.talconfig import render_talconfig
from tests.real.machine.estates import estate as preset
from tests.real.talhelper import genconfig, written
from tests.real.test_machine_judged import meaning
from tests.talos.machine.clusters import (
    CLUSTER,
    NODES,
    TALOS,
    TALOS_SECTION,
    bundle,
    desired,
)
from tools.pytest_plugin import RealTool

LINES = [line for line in TALOS if line != "1.14"]
"""talhelper 3.1.16 holds the library of Talos 1.14.0-alpha.2, which lacks documents of 1.14."""

PATCHES = (
    Patch(
        label="talos.patches.all[0]",
        file="cluster.yaml",
        text="machine: {sysctls: {vm.nr_hugepages: '1', fs.a: 'costs $5 and ${HOME} {{ .x }}'}}\n",
    ),
    Patch(
        label="talos.patches.all[1]",
        file="cluster.yaml",
        text="machine: {kubelet: {nodeIP: {$patch: delete}}}\n",
    ),
    Patch(
        label="nodes[0].talos.patches[0]",
        file="nodes.yaml",
        text="machine: {sysctls: {vm.nr_hugepages: '2'}, env: {A: b}}\n",
    ),
)
"""The last one wins with us; with talhelper's own order one for all nodes would."""


def ours(wanted: Desired, node: Node, patches: tuple[Patch, ...] = ()) -> dict[Any, Any]:
    text = configuration_text(machine_documents(wanted, node, bundle())).reveal()
    assert wanted.cluster is not None
    minor = wanted.cluster.talos.contract.minor_text
    config_documents = apply_patches(load_documents("ours", text, minor), patches, minor)
    trees = (plain_value(config_document.canonical()) for config_document in config_documents)
    return meaning("---\n".join(dump(tree) for tree in trees if isinstance(tree, dict)))


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["single", "three-node", "fifteen-node"])
def test_talhelper_makes_the_machines_of_every_preset(
    real_tool: RealTool, tmp_path: Path, name: str, line: str
) -> None:
    wanted = preset(name, line)

    written(render_talconfig(wanted, bundle(), {}), tmp_path)
    made = genconfig(real_tool("talhelper"), tmp_path)

    assert {node: meaning(text) for node, text in made.items()} == {
        node.name: ours(wanted, node) for node in wanted.nodes
    }


@pytest.mark.parametrize("line", LINES)
def test_every_key_and_the_order_of_patches_survive_talhelper(
    real_tool: RealTool, tmp_path: Path, line: str
) -> None:
    wanted = desired(
        line,
        "node_vlan_tag: '5'\n"
        "kubernetes: {oidc: {issuer_url: 'https://127.66.0.9', client_id: c}}\n",
    )
    patches = {node.name: PATCHES for node in wanted.nodes}

    written(render_talconfig(wanted, bundle(), patches), tmp_path)
    made = genconfig(real_tool("talhelper"), tmp_path)

    assert {node: meaning(text) for node, text in made.items()} == {
        node.name: ours(wanted, node, PATCHES) for node in wanted.nodes
    }


@pytest.mark.parametrize(("contract", "line"), [("1.11", "1.13"), ("1.12", "1.14")])
def test_a_contract_that_is_older_than_the_version_is_kept(
    real_tool: RealTool, tmp_path: Path, contract: str, line: str
) -> None:
    base = CLUSTER.format(talos=TALOS[line], line=contract, kubernetes="1.36.0")
    files = {"cluster.yaml": base + TALOS_SECTION, "nodes.yaml": NODES}
    loaded = load({name: text.encode() for name, text in files.items()})
    check_rules(loaded)
    wanted = resolve(loaded)

    written(render_talconfig(wanted, bundle(), {}), tmp_path)
    made = genconfig(real_tool("talhelper"), tmp_path)

    assert {node: meaning(text) for node, text in made.items()} == {
        node.name: ours(wanted, node) for node in wanted.nodes
    }
    assert re.search(rf"nocloud-installer/[0-9a-f]+:v{TALOS[line]}\n", made["cp-1"])
