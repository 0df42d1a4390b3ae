"""Estates whose machines are compared: every preset with nodes, and one with everything."""

from __future__ import annotations

import re

from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired, Node
from tests.talos.machine.clusters import KUBERNETES, TALOS
from tests.talos.machine.everything import everything

PRESETS = ("single", "three-node", "fifteen-node")
ESTATES = (*PRESETS, "everything")


def estate(name: str, line: str) -> Desired:
    """An estate in the style of one Talos line."""
    return everything(line) if name == "everything" else preset(name, line)


def preset(name: str, line: str) -> Desired:
    """A preset in the style of one Talos line."""
    files = render_preset(name)
    text = files["cluster.yaml"]
    for key, value in (
        ("talos_version", TALOS[line]),
        ("talos_contract", f'"{line}"'),
        ("kubernetes_version", KUBERNETES[line]),
    ):
        text = re.sub(rf"^{key}:.*$", f"{key}: {value}", text, flags=re.MULTILINE)
    loaded = load({"cluster.yaml": text.encode(), "nodes.yaml": files["nodes.yaml"].encode()})
    check_rules(loaded)
    return resolve(loaded)


def machines(desired: Desired) -> list[Node]:
    """One machine of each role and class."""
    return list({(node.role, node.node_class): node for node in desired.nodes}.values())
