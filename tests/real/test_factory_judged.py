"""Factory and registry of the lab are judged by the clients of the real ones."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.factory.state import EMPTY_ID
from stockman_lab.images.container import layer_facts
from stockman_lab.images.image import read_image
from stockman_lab.world.world import World

from tests.real.images_open import serve_images
from tests.real.served import served
from tests.real.tofu import Tofu
from tests.talos.schematics import PUBLISHED
from tools.pytest_plugin import RealTool

TEXT = """\
customization:
    systemExtensions:
        officialExtensions:
            - siderolabs/qemu-guest-agent
"""
AGENT_ID = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
CONFIGURATION = """\
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}
variable "url" {}
variable "checksum" {}
resource "proxmox_virtual_environment_download_file" "talos" {
  node_name          = "pve1"
  datastore_id       = "local"
  content_type       = "import"
  url                = var.url
  file_name          = "talos.qcow2"
  checksum           = var.checksum
  checksum_algorithm = "sha256"
}
resource "proxmox_virtual_environment_vm" "node" {
  node_name = "pve1"
  vm_id     = 300
  name      = "node"
  started   = true
  cpu {
    cores = 2
  }
  memory {
    dedicated = 2048
  }
  disk {
    datastore_id = "local-zfs"
    interface    = "scsi0"
    import_from  = proxmox_virtual_environment_download_file.talos.id
    size         = 10
  }
}
"""


@pytest.fixture
def world() -> World:
    return World.new()


@pytest.fixture
def host(world: World) -> Iterator[str]:
    with serve_images(world) as served_at:
        yield served_at


def run(*command: str | Path, text: str = "", fails: bool = False) -> str:
    found = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=120, check=False
    )
    assert (found.returncode != 0) is fails, found.stderr
    return found.stderr if fails else found.stdout


def asked(program: Path, host: str, version: str, text: str = TEXT) -> Any:
    return json.loads(run(program, f"http://{host}", version, text=text))


def test_the_client_of_the_factory_understands_every_answer(
    real_tool: RealTool, world: World, host: str
) -> None:
    world.state.factory.broken.append("v1.13.3")

    found = asked(real_tool("check-factory"), host, "v1.13.9")

    assert (found["refusal"], found["id"], found["again"]) == ("", AGENT_ID, AGENT_ID)
    assert found["versions"] == world.state.factory.versions
    assert found["broken"] == ["v1.13.3"]
    assert any(
        extension.startswith("siderolabs/qemu-guest-agent ghcr")
        for extension in found["extensions"]
    )
    assert "rpi_generic siderolabs/sbc-raspberrypi" in found["overlays"]
    assert f"http://{host}/talosctl/v1.13.9/talosctl-linux-amd64" in found["clients"]


@pytest.mark.parametrize(
    ("version", "text", "refusal", "invalid"),
    [
        ("v1.99.0", TEXT, "version 1.99.0 is not available", False),
        ("x", TEXT, "internal server error", False),
        ("v1.13.9", "owner: me\n", "owner field is only supported in Enterprise edition", True),
    ],
)
def test_the_client_of_the_factory_understands_refusals(
    real_tool: RealTool, host: str, version: str, text: str, refusal: str, invalid: bool
) -> None:
    found = asked(real_tool("check-factory"), host, version, text)

    assert refusal in found["refusal"]
    assert found["invalid"] is invalid


@pytest.mark.parametrize("status", [429, 503])
def test_the_client_of_the_factory_sees_that_it_is_down(
    real_tool: RealTool, world: World, host: str, status: int
) -> None:
    world.faults.add(Fault(Point.FACTORY, Effect.FAIL, status=status, times=None))

    assert f"{status}" in asked(real_tool("check-factory"), host, "v1.13.9")["refusal"]


@pytest.mark.parametrize(("document", "wanted"), PUBLISHED.values(), ids=PUBLISHED)
def test_ids_that_are_published_are_answered(host: str, document: object, wanted: str) -> None:
    reply = httpx2.post(f"http://{host}/schematics", content=json.dumps(document))

    assert (reply.status_code, reply.json()["id"]) == (201, wanted)
    assert hashlib.sha256(reply.json()["schematic"].encode()).hexdigest() == wanted


def test_talosctl_caches_installers_for_both_architectures(
    real_tool: RealTool, host: str, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    names = [f"{host}/nocloud-installer/{EMPTY_ID}:v1.13.9", f"{host}/siderolabs/kubelet:v1.36.3"]

    run(
        *(real_tool("talosctl@1.14.1"), "image", "cache-create", "--insecure", "--layout=flat"),
        *("--image-cache-path", cache, "--platform=linux/amd64,linux/arm64"),
        *(f"--images={name}" for name in names),
    )

    layers = [layer_facts(one.read_bytes()) for one in (cache / "blob").iterdir() if _is_layer(one)]
    installers = {layer.architecture for layer in layers if layer and layer.platform == "nocloud"}
    assert installers == {"amd64", "arm64"}
    references = {one.name for one in cache.rglob("reference/*")}
    assert {"v1.13.9", "v1.36.3"} <= references


def test_flux_pushes_lists_and_pulls(real_tool: RealTool, host: str, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    content = "a: 1\n" * 10_000
    (source / "a.yaml").write_text(content)
    flux, address = real_tool("flux"), f"oci://{host}/manifests/demo"
    insecure = "--insecure-registry"

    for tag in ("1.0.0", "1.1.0"):
        about = ("--source=https://git.test/demo", f"--revision={tag}@sha1:{'0' * 40}")
        run(flux, "push", "artifact", f"{address}:{tag}", f"--path={source}", *about, insecure)
    listed = run(flux, "list", "artifacts", address, insecure)
    run(flux, "pull", "artifact", f"{address}:1.1.0", f"--output={target}", insecure)

    assert (target / "a.yaml").read_text() == content
    assert "demo:1.0.0" in listed
    assert "demo:1.1.0" in listed
    missing = (f"{address}:2.0.0", f"--output={target}", insecure)
    assert "MANIFEST_UNKNOWN" in run(flux, "pull", "artifact", *missing, fails=True)


def test_opentofu_lets_a_host_download_an_image_and_boots_it(
    real_tool: RealTool, world: World, host: str, tmp_path: Path
) -> None:
    del world
    httpx2.post(f"http://{host}/schematics", content=TEXT).raise_for_status()
    url = f"http://{host}/image/{AGENT_ID}/v1.13.9/nocloud-amd64.qcow2"
    content = httpx2.get(url).content
    scratch, folder = tmp_path / "lab", tmp_path / "configuration"
    scratch.mkdir()
    with served(scratch) as lab:
        tofu = Tofu(
            program=real_tool("tofu"),
            provider=real_tool("terraform-provider-proxmox"),
            folder=folder,
            lab=lab,
            variables={"url": url, "checksum": hashlib.sha256(content).hexdigest()},
        )
        tofu.prepare()
        for one in folder.glob("*.tf"):
            one.unlink()
        (folder / "main.tf").write_text(CONFIGURATION)

        tofu.apply()

        (cluster,) = lab.world.state.clusters.values()
        assert cluster.guests[300].is_running
        (volume,) = [one for key, one in cluster.volumes.items() if "vm-300-" in key]
        facts = read_image(lab.world.state.blobs.get(volume.blob)).facts
        assert facts is not None
        assert (facts.platform, facts.version, facts.schematic) == ("nocloud", "v1.13.9", AGENT_ID)


def _is_layer(file: Path) -> bool:
    return file.read_bytes()[:2] == b"\x1f\x8b"
