"""Files of a first boot are judged by Talos, and images by everybody who reads them."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.images.iso_files import read_iso

from stockman.talos.nocloud.iso_format import nocloud_image
from stockman.talos.nocloud.seed import NetworkConfigVersion, meta_data, network_config
from tests.real.test_migration_judged import asked
from tests.talos.nocloud.networks import NETWORKS, node
from tools.pytest_plugin import RealTool

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FILES = {
    "user-data": b"version: v1alpha1\n" * 1000,
    "meta-data": b"instance-id: x\n",
    "network-config": b"version: 1\n",
    "vendor-data": b"",
    "a-name-that-is.longer-than.any-old-reader.likes.yaml": b"z" * 2048,
}
LINKS = {f"ens{number}": f"bc:24:11:00:00:4{number}" for number in range(3)}
"""Cards under other names than the files give them: they are found by their addresses."""


def understood(
    real_tool: RealTool, name: str, form: NetworkConfigVersion, links: dict[str, str]
) -> Any:
    """What Talos makes of one network."""
    _, one = node()
    task = {
        "network-config": network_config(NETWORKS[name], form),
        "meta-data": meta_data(one),
        "links": links,
    }
    (answer,) = asked([real_tool("check-network"), "nocloud"], [task])
    assert answer["result"]["incomplete"] is False
    return answer["result"]["network"]


@pytest.mark.parametrize("form", [1, 2])
def test_talos_understands_a_static_address(
    real_tool: RealTool, form: NetworkConfigVersion
) -> None:
    found = understood(real_tool, "static", form, LINKS)

    (address,) = found["addresses"]
    (route,) = found["routes"]
    assert (address["address"], address["linkName"]) == ("127.66.0.21/24", "ens0")
    assert (route["gateway"], route["outLinkName"]) == ("127.66.0.1", "ens0")
    assert {link["name"]: link["mtu"] for link in found["links"]} == {"ens0": 9000, "ens1": 0}
    assert found["resolvers"][0]["dnsServers"] == ["127.66.0.2", "127.66.0.3"]


@pytest.mark.parametrize("form", [1, 2])
def test_talos_understands_dhcp(real_tool: RealTool, form: NetworkConfigVersion) -> None:
    (operator,) = understood(real_tool, "dhcp", form, LINKS)["operators"]

    assert (operator["operator"], operator["linkName"]) == ("dhcp4", "ens0")


@pytest.mark.parametrize("form", [1, 2])
def test_talos_understands_a_bond(real_tool: RealTool, form: NetworkConfigVersion) -> None:
    found = understood(real_tool, "bond", form, LINKS)

    links = {link["name"]: link for link in found["links"]}
    assert links["bond0"]["bondMaster"]["mode"] == "802.3ad"
    assert links["bond0"]["bondMaster"]["lacpRate"] == "fast"
    assert (links["ens1"]["masterName"], links["ens1"]["slaveIndex"]) == ("bond0", 1)
    assert found["addresses"][0]["linkName"] == "bond0"


def test_talos_finds_the_card_below_a_vlan_by_its_address(real_tool: RealTool) -> None:
    found = understood(real_tool, "vlan", 1, LINKS)

    links = {link["name"]: link for link in found["links"]}
    assert links["eth0.66"]["parentName"] == "ens0"
    assert links["eth0.66"]["vlan"]["vlanID"] == 66


def test_in_version_2_it_finds_it_by_its_name_alone(real_tool: RealTool) -> None:
    found = understood(real_tool, "vlan", 2, LINKS)

    assert {link["name"]: link.get("parentName") for link in found["links"]}["eth0.66"] == "eth0"


def test_talos_understands_routes(real_tool: RealTool) -> None:
    routes = understood(real_tool, "routes", 2, LINKS)["routes"]

    assert sorted((route["dst"], route["gateway"], route["priority"]) for route in routes) == [
        ("", "127.66.0.1", 1024),
        ("127.99.0.0/16", "127.66.0.9", 50),
    ]


def test_talos_reads_where_the_machine_is(real_tool: RealTool) -> None:
    found = understood(real_tool, "dhcp", 1, LINKS)

    _, one = node()
    assert one.vm is not None
    assert found["hostnames"][0]["hostname"] == "cp-1"
    assert found["metadata"] == {
        "platform": "nocloud",
        "hostname": "cp-1",
        "instanceId": str(one.vm.uuid),
        "instanceType": "4VCPU-8GB",
        "providerId": "proxmox://pve/1021",
        "region": "pve",
        "zone": "pve-a",
        "internalDNS": "cp-1",
    }


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "cidata.iso"
    path.write_bytes(nocloud_image(FILES, MOMENT))
    return path


def test_talos_finds_the_image_by_its_label(real_tool: RealTool, image: Path) -> None:
    done = subprocess.run(
        [real_tool("check-iso"), image], capture_output=True, text=True, check=True
    )

    found = json.loads(done.stdout)
    assert (found["name"], found["label"]) == ("iso9660", "cidata")
    assert {name: base64.b64decode(raw) for name, raw in found["files"].items()} == FILES


def told(command: list[str | Path]) -> bytes:
    return subprocess.run(command, capture_output=True, check=True).stdout


READERS: dict[str, Callable[[Path, Path, str], list[str | Path]]] = {
    "bsdtar": lambda program, image, name: [program, "-xOf", image, name],
    "isoinfo": lambda program, image, name: [program, "-R", "-i", image, "-x", f"/{name}"],
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FILES)
def test_other_readers_see_the_same_contents(
    real_tool: RealTool, image: Path, reader: str, name: str
) -> None:
    assert told(READERS[reader](real_tool(reader), image, name)) == FILES[name]


def test_joliet_and_short_names_are_seen(real_tool: RealTool, image: Path) -> None:
    isoinfo = real_tool("isoinfo")

    joliet = told([isoinfo, "-J", "-f", "-i", image]).decode().split()
    short = told([isoinfo, "-f", "-i", image]).decode().split()

    assert sorted(joliet) == sorted(f"/{name}" for name in FILES)
    assert "/USER_DAT.;1" in short


def test_xorriso_finds_no_fault(real_tool: RealTool, image: Path) -> None:
    done = subprocess.run(
        [real_tool("xorriso"), "-indev", image, "-find", "/", "-type", "f"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert sorted(done.stdout.split()) == sorted(f"'/{name}'" for name in FILES)
    assert "WARNING" not in done.stderr
    assert "SORRY" not in done.stderr


@pytest.mark.parametrize(
    "options", [["-R"], ["-R", "-J", "-iso-level", "3"], ["-J"], ["-iso-level", "4"]]
)
def test_images_that_others_make_are_read(
    real_tool: RealTool, tmp_path: Path, options: list[str]
) -> None:
    for name, content in FILES.items():
        source = tmp_path / "files" / name
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(content)
    made = tmp_path / "made.iso"
    command: list[str | Path] = [real_tool("genisoimage"), "-quiet", "-V", "cidata", *options]
    subprocess.run([*command, "-o", made, tmp_path / "files"], check=True, capture_output=True)

    found = read_iso(made.read_bytes())

    assert found.label == "cidata"
    assert found.files == FILES
