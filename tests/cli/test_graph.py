"""`stockman graph` in all its forms."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.inside import ran_inside
from tests.cli.running import Ran


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mktemp = tmp_path_factory.mktemp("graph")
    assert ran_inside("init", str(mktemp), "--preset", "single").status == 0
    return mktemp


def graph(directory: Path, *arguments: str) -> Ran:
    done = ran_inside("-C", str(directory), "graph", *arguments)
    assert done.status == 0, done.err
    return done


def test_text_has_phases_and_what_waits_for_what(directory: Path) -> None:
    lines = graph(directory).out.splitlines()

    assert lines[0] == "definitions"
    assert any(line.startswith("  flux-instance ") and "after" in line for line in lines)


def test_dot_and_mermaid_have_the_same_arrows(directory: Path) -> None:
    dot = {
        tuple(line.strip(' ";').split('" -> "'))
        for line in graph(directory, "-o", "dot").out.splitlines()
        if " -> " in line
    }
    mermaid = {
        tuple(line.strip().split(" --> "))
        for line in graph(directory, "-o", "mermaid").out.splitlines()
        if " --> " in line
    }
    assert ("flux-operator", "flux-instance") in dot
    assert dot == mermaid


def test_the_picture_is_svg_with_every_component(directory: Path) -> None:
    data = json.loads(graph(directory, "-o", "json").out)["data"]

    picture = ET.fromstring(graph(directory, "-o", "svg").out)

    shown = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {one["name"] for one in data} <= shown


def test_without_a_cluster_there_is_nothing_to_show(tmp_path: Path) -> None:
    assert ran_inside("init", str(tmp_path), "--preset", "home").status == 0

    done = graph(tmp_path)

    assert done.out.strip() == ""
    assert "no cluster" in done.err


def test_a_directory_without_a_configuration_says_so(tmp_path: Path) -> None:
    done = ran_inside("-C", str(tmp_path), "graph")

    assert done.status != 0
    assert "there is no configuration here" in done.err
