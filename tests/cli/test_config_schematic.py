"""`stockman config schematic` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.inside import ran_inside
from tests.config.written import CLUSTER, NODES

AGENT = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
PLAIN = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    second = NODES.removeprefix("nodes:\n").replace("cp-1", "work-1").replace("true", "false")
    second = second.replace("0.21", "0.31").replace("1021", "1031").replace("00:21", "00:31")
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "nodes.yaml").write_text(NODES + second + f"    schematic_id: {PLAIN}\n")
    return tmp_path


def test_ids_are_those_of_the_image_factory(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "schematic", "-o", "name")

    assert (done.status, done.out) == (0, f"{AGENT}\n{PLAIN}\n")


def test_an_image_shows_its_nodes_and_its_contents(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "schematic", "cp-1")

    assert done.status == 0
    assert done.out == (
        f"{AGENT}\n"
        "  nodes:      cp-1\n"
        f"  installer:  factory.talos.dev/nocloud-installer/{AGENT}:v1.13.9\n"
        f"  disk image: https://factory.talos.dev/image/{AGENT}/v1.13.9/nocloud-amd64.raw.xz\n"
        "  schematic:\n"
        "    customization:\n"
        "        systemExtensions:\n"
        "            officialExtensions:\n"
        "                - siderolabs/qemu-guest-agent\n"
    )


def test_programs_get_every_image(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "schematic", "-o", "json")

    document = json.loads(done.out)
    assert document["kind"] == "Schematics"
    assert [row["nodes"] for row in document["data"]] == [["cp-1"], ["work-1"]]
    assert document["data"][1]["text"] == ""


def test_a_name_that_does_not_exist_is_named(project: Path) -> None:
    done = ran_inside("-C", str(project), "config", "schematic", "cp-9")

    assert (done.status, done.out) == (1, "")
    assert "config.no-such-node" in done.err


def test_an_extension_that_nobody_knows_is_doubtful(project: Path) -> None:
    text = (project / "cluster.yaml").read_text()
    (project / "cluster.yaml").write_text(text.replace("qemu-guest-agent", "qemu-guest-agnt"))

    done = ran_inside("-C", str(project), "config", "schematic")

    assert done.status == 0
    assert "warning[schematic.unknown-extension]" in done.err


def test_an_extension_that_the_version_does_not_have_is_refused(project: Path) -> None:
    text = (project / "cluster.yaml").read_text()
    (project / "cluster.yaml").write_text(text.replace("qemu-guest-agent", "hyperv-guest-agent"))

    done = ran_inside("-C", str(project), "config", "schematic")

    assert (done.status, done.out) == (3, "")
    assert "error[schematic.extension]" in done.err
