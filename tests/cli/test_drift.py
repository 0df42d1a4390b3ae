"""`stockman drift` over the wire, with the token of stockman alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from stockman_lab.core.dice import Dice
from stockman_lab.pve.access.identity import Caller
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.options import ServingOptions
from stockman_lab.testing.thread import LabThread

from stockman.app.init.directory import InitContext
from tests.app.drift.scene import NETWORK, Made, Scene, made
from tests.app.start_doors import ToldRepo
from tests.cli.inside import ran_inside
from tests.cli.running import Ran
from tests.contract.repo.doors import git


@dataclass
class _Moment:
    at: datetime

    def now(self) -> datetime:
        return self.at


@dataclass
class Served:
    """A cluster that answers over the wire, and its directory."""

    lab: LabThread
    scene: Scene

    def drift(self, *text: str) -> Ran:
        return ran_inside("-C", str(self.scene.directory), "drift", *text)


@pytest.fixture(scope="module")
def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251  # certificates have to be valid to real clients


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory, now: datetime) -> Made:
    """A cluster of one node, made once."""
    opened = InitContext(clock=_Moment(now), entropy=Dice(5), repo=ToldRepo())
    return made(tmp_path_factory.mktemp("single"), preset="single", opened=opened)


@pytest.fixture
def served(tmp_path: Path, single: Made, now: datetime) -> Iterator[Served]:
    scene = single.copy(tmp_path / "scene")
    manner = ServingOptions(port=0, talos_port=0, kube_port=0, images_port=0)
    lab = LabThread(scene.world, tmp_path, now, manner=manner)
    proxmox = lab.start()
    talos = lab.talos(proxmox)
    desired = scene.workspace().desired
    assert desired.cluster is not None
    first = next(iter(scene.world.talos.on()))
    kube = lab.run(lambda: lab.serving.machines.kube_place(first))
    assert kube is not None
    endpoint = str(desired.proxmox[0].endpoint).removeprefix("https://").rstrip("/")
    api = str(desired.cluster.kubernetes.api_addr)
    by_name = {endpoint: proxmox.endpoint.removeprefix("https://")}
    by_name |= {f"{api}:6443": f"{kube[0]}:{kube[1]}"}
    by_name |= {f"{talos.machines[name]}:50000": place for name, place in talos.places.items()}
    connect = "".join(f'    "{key}": "{place}"\n' for key, place in by_name.items())
    (scene.directory / "pve-ca.pem").write_text(proxmox.ca.read_text())
    scene.edit(
        "cluster.yaml",
        "^proxmox:$",
        f"proxmox:\n  tls: {{ca_file: pve-ca.pem}}\n  connect:\n{connect}",
    )
    yield Served(lab, scene)
    lab.stop()


def test_drift_over_the_wire_names_author_and_correction(served: Served) -> None:
    nothing = served.drift("--layer", "vms", "--layer", "talos", "--layer", "kubernetes")
    assert (nothing.status, nothing.out) == (0, ""), nothing.err
    world, cluster = served.scene.world, served.scene.cluster
    vmid, guest = next(iter(world.clusters[cluster].state.guests.items()))
    root = MemoryClient(world, cluster, caller=Caller("root@pam", "lab"))
    change = f"/nodes/{guest.node}/qemu/{vmid}/config"
    served.lab.run(lambda: root.done(root.post(change, memory="9000")))

    found = served.drift("-o", "json", "--layer", "vms")

    data = json.loads(found.out)["data"]
    assert found.status == 2, found.err
    assert data["layers"] == {"vms": "drift"}
    (drift,) = data["drifts"]
    assert drift["author"]["name"] == "root@pam!lab"
    assert drift["values"][0]["key"] == "memory"
    assert drift["values"][0]["observed"] == "9000"
    assert drift["correction"]["steps"][0]["id"].startswith("vms/configure/")
    assert "claims" not in drift


def test_a_layer_that_cannot_be_read_ends_with_failure(served: Served) -> None:
    git(served.scene.directory, "remote", "set-url", "origin", str(served.scene.root / "gone.git"))

    drift = served.drift("--layer", "tree")

    assert drift.status == 1
    assert "tree unknown" in drift.err
    assert str(NETWORK.network_address) not in drift.out
