"""Images of the lab are judged by QEMU, by a partitioning program, and by Talos."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.images.compression import packed
from stockman_lab.images.image import Form, read_image
from stockman_lab.images.making import disk_image, iso_image
from stockman_lab.pve.cloudinit.drive import drive

from lab.tests.images.made import GIB, MIB, MOMENT, facts
from lab.tests.pve.cloudinit.made import SEVERAL, STATIC, vm
from tests.real.test_migration_judged import asked
from tools.pytest_plugin import RealTool


def told(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("size", [2 * MIB, 10 * GIB, 4096 * GIB])
def test_qemu_accepts_a_qcow2_image(real_tool: RealTool, tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.qcow2"
    path.write_bytes(disk_image(facts(size), Form.QCOW2))

    info = json.loads(told(real_tool("qemu-img"), "info", "--output=json", path))
    check = told(real_tool("qemu-img"), "check", path)

    assert (info["format"], info["virtual-size"]) == ("qcow2", size)
    assert "No errors were found" in check


@pytest.mark.parametrize("options", [[], ["-c"], ["-o", "extended_l2=on"], ["-o", "compat=0.10"]])
def test_what_qemu_makes_of_an_image_says_the_same(
    real_tool: RealTool, tmp_path: Path, options: list[str]
) -> None:
    ours, theirs = tmp_path / "ours.qcow2", tmp_path / "theirs.qcow2"
    ours.write_bytes(disk_image(facts(64 * MIB), Form.QCOW2))

    told(real_tool("qemu-img"), "convert", "-O", "qcow2", *options, ours, theirs)

    image = read_image(theirs.read_bytes())
    assert (image.form, image.virtual_size) == (Form.QCOW2, 64 * MIB)
    assert image.facts == facts(64 * MIB)


def test_what_qemu_makes_raw_is_the_raw_image(real_tool: RealTool, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.qcow2", tmp_path / "theirs.raw"
    ours.write_bytes(disk_image(facts(8 * MIB), Form.QCOW2))

    told(real_tool("qemu-img"), "convert", "-O", "raw", ours, theirs)

    assert theirs.read_bytes() == disk_image(facts(8 * MIB), Form.RAW)


def test_a_backing_file_is_seen(real_tool: RealTool, tmp_path: Path) -> None:
    base, above = tmp_path / "base.raw", tmp_path / "above.qcow2"
    base.write_bytes(b"\x00" * MIB)

    told(real_tool("qemu-img"), "create", "-f", "qcow2", "-b", base, "-F", "raw", above)

    assert read_image(above.read_bytes()).has_backing_file


@pytest.mark.parametrize("size", [2 * MIB, 64 * MIB])
def test_partitions_are_in_order(real_tool: RealTool, tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.raw"
    path.write_bytes(disk_image(facts(size), Form.RAW))

    assert "No problems found" in told(real_tool("sgdisk"), "-v", path)
    assert "EF00" in told(real_tool("sgdisk"), "-p", path)


def test_talos_finds_the_cloud_init_drive(real_tool: RealTool, tmp_path: Path) -> None:
    made = drive(vm(STATIC), lambda _: b"")
    path = tmp_path / "drive.iso"
    path.write_bytes(made.image(MOMENT))

    found = json.loads(told(real_tool("check-iso"), path))

    assert (found["name"], found["label"]) == ("iso9660", "cidata")
    assert {name: base64.b64decode(raw) for name, raw in found["files"].items()} == made.files


def understood(real_tool: RealTool, values: dict[str, str]) -> Any:
    files = drive(vm(values), lambda _: b"").files
    task = {
        "network-config": files["network-config"].decode(),
        "meta-data": files["meta-data"].decode(),
        "links": {f"ens{number}": f"bc:24:11:aa:bb:{number:02d}" for number in (0, 2, 3, 10)},
    }
    (answer,) = asked([real_tool("check-network"), "nocloud"], [task])
    assert answer["result"]["incomplete"] is False
    return answer["result"]["network"]


def test_talos_understands_static_addresses(real_tool: RealTool) -> None:
    found = understood(real_tool, STATIC)

    addresses = {(address["address"], address["linkName"]) for address in found["addresses"]}
    assert addresses == {("127.66.0.21/23", "ens0"), ("fd66::21/64", "ens0")}
    assert {route["gateway"] for route in found["routes"]} == {"127.66.0.1", "fd66::1"}
    assert found["resolvers"][0]["dnsServers"] == ["127.66.0.2", "127.66.0.3"]


def test_talos_understands_several_cards(real_tool: RealTool) -> None:
    found = understood(real_tool, SEVERAL)

    assert {operator["linkName"] for operator in found["operators"]} >= {"ens0"}
    assert [address["address"] for address in found["addresses"]] == ["127.66.2.2/8"]


def test_a_boot_image_has_its_own_label(real_tool: RealTool, tmp_path: Path) -> None:
    path = tmp_path / "a.iso"
    path.write_bytes(iso_image(facts(0), MOMENT))

    found = json.loads(told(real_tool("check-iso"), path))

    assert found["label"] == "NOCLOUD_V1_13_9"


@pytest.mark.parametrize("compression", ["gz", "zst", "xz"])
def test_another_program_unpacks_what_is_packed(
    real_tool: RealTool, tmp_path: Path, compression: str
) -> None:
    content = disk_image(facts(4 * MIB), Form.RAW)
    path = tmp_path / f"a.raw.{compression}"
    path.write_bytes(packed(content, compression))

    unpacked = subprocess.run(
        [real_tool("zstd"), "-q", "-d", "-c", path], capture_output=True, check=True
    )

    assert unpacked.stdout == content
