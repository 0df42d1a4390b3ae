"""What is taken over from talhelper is judged by talhelper: machines differ in what is said."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from stockman.config.convert.output import ConversionResult
from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired, Node
from stockman.talos.go_yaml import dump
from stockman.talos.imports.configurations import node_patches
from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.schema import plain_value
from tests.real.talhelper import genconfig, give_secrets
from tests.talos.imports.adopting import from_talhelper
from tests.talos.imports.directories import ALL, written
from tests.talos.machine.clusters import TALOS, bundle
from tools.pytest_plugin import RealTool

LINES = [line for line in TALOS if line != "1.14"]
Documents = dict[str, Any]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ALL)
def test_machines_differ_from_those_of_talhelper_in_what_the_report_says(
    real_tool: RealTool, tmp_path: Path, name: str, line: str
) -> None:
    files = ALL[name](line)
    give_secrets(written(files, tmp_path))

    theirs = genconfig(real_tool("talhelper"), tmp_path)
    result = from_talhelper(files)

    assert not result.problems.errors
    wanted = desired(result)
    assert {
        str(node.name): set(different(documents(theirs[node.name]), ours(wanted, node)))
        for node in wanted.nodes
    } == {
        str(node.name): {differ.what for differ in result.differs if node.name in differ.nodes}
        for node in wanted.nodes
    }


def desired(result: ConversionResult) -> Desired:
    loaded = load({name: text.encode() for name, text in result.files.items()})
    check_rules(loaded)
    return resolve(loaded)


def ours(wanted: Desired, node: Node) -> Documents:
    return documents(text_of(wanted, node))


def text_of(wanted: Desired, node: Node) -> str:
    assert wanted.cluster is not None
    minor = wanted.cluster.talos.contract.minor_text
    text = configuration_text(machine_documents(wanted, node, bundle())).reveal()
    config_documents = apply_patches(
        load_documents("ours", text, minor), node_patches(wanted, node), minor
    )
    trees = (plain_value(config_document.canonical()) for config_document in config_documents)
    return "---\n".join(dump(tree) for tree in trees if isinstance(tree, dict))


def documents(text: str) -> Documents:
    found = {}
    for one in yaml.load_all(text, Loader=yaml.BaseLoader):
        label = " ".join(filter(None, (one.get("kind", "v1alpha1"), one.get("name", ""))))
        found[label] = filled(one)
    return found


def filled(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {key: filled(item) for key, item in value.items()}
        return {
            key: sorted(set(item)) if key == "certSANs" else item
            for key, item in inner.items()
            if item not in ({}, [], "", None)
        }
    if isinstance(value, list):
        return [filled(item) for item in value]
    return str(int(value, 8)) if value.startswith("0o") else value


def different(theirs: Documents, ours: Documents) -> Iterator[str]:
    for label in theirs.keys() | ours.keys():
        if label in theirs and label in ours:
            yield from places(theirs[label], ours[label], (label,))
        else:
            yield label


def places(one: Any, other: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(one, dict) or isinstance(other, dict):
        one, other = one or {}, other or {}
        for key in one.keys() | other.keys():
            yield from places(one.get(key), other.get(key), (*path, key))
    elif one != other:
        yield f"{path[0]} {'.'.join(path[1:])}"


@pytest.mark.parametrize("line", TALOS)
@pytest.mark.parametrize("name", ["template", "large"])
def test_talos_accepts_the_machines_that_were_taken_over(
    real_tool: RealTool, tmp_path: Path, name: str, line: str
) -> None:
    talosctl = real_tool(f"talosctl@{TALOS[line]}")
    wanted = desired(from_talhelper(ALL[name](line)))

    for node in wanted.nodes:
        path = tmp_path / f"{node.name}.yaml"
        path.write_text(text_of(wanted, node))
        done = subprocess.run(
            [talosctl, "validate", "--mode", "metal", "--config", path],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
