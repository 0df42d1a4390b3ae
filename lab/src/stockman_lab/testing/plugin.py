"""The plugin for pytest: `def test_x(proxmox_lab): ...` gets a Proxmox VE of its own.

@pytest.mark.proxmox_lab(preset="home", pve="8.4")
def test_mine(proxmox_lab): ...

@pytest.mark.talos_lab(preset="single", talos="1.13.9")
def test_a_cluster(talos_lab): ...

`kubernetes_lab` is a Kubernetes cluster, `s3_lab` an object storage, `cluster_lab` all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

import pytest

from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World

if TYPE_CHECKING:
    from stockman_lab.testing.clusters import ClusterLab, KubernetesLab
    from stockman_lab.testing.storage import S3Lab
    from stockman_lab.testing.thread import ProxmoxLab, TalosLab


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """Which cluster is wanted."""

    preset: str
    network: str
    talos: str | None
    """`1.13.9`. None: as the preset has it."""
    pve: str
    seed: int
    flux: bool = False
    """Whether Flux is in it, and what else clusters have."""


class StagedWorlds:
    """Keeps what was made, as bytes."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        """When certificates begin to be valid."""
        self._made: dict[ClusterOptions, bytes] = {}

    def copy(self, cluster_options: ClusterOptions) -> World:
        """A world of its own for somebody."""
        if cluster_options not in self._made:
            self._made[cluster_options] = self._stage(cluster_options)
        return World(read_world(self._made[cluster_options]))

    def _stage(self, cluster_options: ClusterOptions) -> bytes:
        network = IPv4Network(cluster_options.network)
        world = preset_world(
            PresetOptions(
                preset=cluster_options.preset,
                network=network,
                profile=cluster_options.pve,
                seed=cluster_options.seed,
                now=float(int(self.now.timestamp())),
            )
        )
        staging = Staging(
            preset=cluster_options.preset,
            network=network,
            talos_version=cluster_options.talos,
            real_now=self.now,
            flux=cluster_options.flux,
        )
        stage_cluster(world, staging)
        return world_file(world.state)


_NETWORK = "127.66.0.0/16"
_MARK = "proxmox_lab"
_TALOS_MARK = "talos_lab"
_STORAGE_MARK = "s3_lab"
_KUBERNETES_MARK = "kubernetes_lab"
_CLUSTER_MARK = "cluster_lab"


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the marks."""
    config.addinivalue_line(
        "markers",
        "proxmox_lab(preset='three-node', pve='9.1', network='127.66.0.0/16', seed=1): "
        "which simulated Proxmox VE the fixture `proxmox_lab` is",
    )
    config.addinivalue_line(
        "markers",
        "talos_lab(preset='single', talos=None, pve='9.1', network='127.66.0.0/16', seed=1,"
        " port=0): which simulated Talos cluster the fixture `talos_lab` is",
    )
    config.addinivalue_line(
        "markers",
        "s3_lab(bucket='lab', seed=1): which simulated object storage the fixture `s3_lab` is",
    )
    config.addinivalue_line(
        "markers",
        "kubernetes_lab(preset='single', talos=None, pve='9.1', network='127.66.0.0/16', seed=1):"
        " which simulated cluster the fixture `kubernetes_lab` is",
    )
    config.addinivalue_line(
        "markers",
        "cluster_lab(preset='single', talos=None, pve='9.1', network='127.66.0.0/16', seed=1,"
        " speed=None, repositories={}, bucket='lab'): which world the fixture `cluster_lab` is",
    )


@pytest.fixture
def proxmox_lab(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProxmoxLab]:
    """A simulated Proxmox VE that answers on loopback addresses while the test runs."""
    from datetime import UTC, datetime
    from ipaddress import IPv4Network

    from stockman_lab.testing.thread import LabThread
    from stockman_lab.world.preset import PresetOptions, preset_world

    wanted = _told(request, _MARK)
    now = datetime.now(UTC)  # noqa: TID251  # certificates have to be valid to real clients
    world = preset_world(
        PresetOptions(
            preset=str(wanted.pop("preset", "three-node")),
            network=IPv4Network(str(wanted.pop("network", _NETWORK))),
            profile=str(wanted.pop("pve", "9.1")),
            seed=int(wanted.pop("seed", 1)),
            now=float(int(now.timestamp())),
        )
    )
    port = int(wanted.pop("port", 0))
    _refuse_others(_MARK, wanted)
    lab = LabThread(world, tmp_path_factory.mktemp("proxmox-lab"), now, port)
    yield lab.start()
    lab.stop()


@pytest.fixture(scope="session")
def staged_talos_worlds() -> StagedWorlds:
    """Clusters that were made in this session: each once, and a copy for every test."""
    from datetime import UTC, datetime

    return StagedWorlds(datetime.now(UTC))  # noqa: TID251  # certificates are for real clients


@pytest.fixture
def talos_lab(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    staged_talos_worlds: StagedWorlds,
) -> Iterator[TalosLab]:
    """A simulated Talos cluster, bootstrapped and ready, that answers while the test runs."""
    from stockman_lab.testing.thread import LabThread, TalosPorts

    wanted = _told(request, _TALOS_MARK)
    cluster_options = _cluster_options(wanted)
    port = int(wanted.pop("port", 0))
    _refuse_others(_TALOS_MARK, wanted)
    world = staged_talos_worlds.copy(cluster_options)
    scratch = tmp_path_factory.mktemp("talos-lab")
    lab = LabThread(world, scratch, staged_talos_worlds.now, 0, talos=TalosPorts(api=port))
    yield lab.talos(lab.start())
    lab.stop()


@pytest.fixture
def s3_lab(request: pytest.FixtureRequest) -> Iterator[S3Lab]:
    """A simulated object storage that answers on a loopback address while the test runs."""
    from datetime import UTC, datetime

    from stockman_lab.testing.storage import StorageThread
    from stockman_lab.world.world import World

    wanted = _told(request, _STORAGE_MARK)
    bucket, seed = str(wanted.pop("bucket", "lab")), int(wanted.pop("seed", 1))
    _refuse_others(_STORAGE_MARK, wanted)

    def now() -> datetime:
        return datetime.now(UTC)  # noqa: TID251  # what real clients sign by

    world = World.new(seed=seed, now=float(int(now().timestamp())))
    lab = StorageThread(world, now, bucket)
    yield lab.start()
    lab.stop()


@pytest.fixture
def kubernetes_lab(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    staged_talos_worlds: StagedWorlds,
) -> Iterator[KubernetesLab]:
    """A simulated Kubernetes cluster, with nodes that are ready, while the test runs."""
    from stockman_lab.testing.clusters import kubernetes_of
    from stockman_lab.testing.thread import LabThread, TalosPorts

    wanted = _told(request, _KUBERNETES_MARK)
    cluster_options = _cluster_options(wanted)
    _refuse_others(_KUBERNETES_MARK, wanted)
    world = staged_talos_worlds.copy(cluster_options)
    scratch = tmp_path_factory.mktemp("kubernetes-lab")
    lab = LabThread(world, scratch, staged_talos_worlds.now, 0, talos=TalosPorts())
    yield kubernetes_of(lab, lab.talos(lab.start()))
    lab.stop()


@pytest.fixture
def cluster_lab(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    staged_talos_worlds: StagedWorlds,
) -> Iterator[ClusterLab]:
    """Everything that is simulated, with one cluster that Flux is in, while the test runs."""
    from stockman_lab.servers.options import ServingOptions
    from stockman_lab.testing.clusters import whole_of
    from stockman_lab.testing.thread import LabThread

    wanted = _told(request, _CLUSTER_MARK)
    cluster_options = _cluster_options(wanted, flux=True)
    speed, bucket = wanted.pop("speed", None), str(wanted.pop("bucket", "lab"))
    repositories = dict(wanted.pop("repositories", {}))
    _refuse_others(_CLUSTER_MARK, wanted)
    world = staged_talos_worlds.copy(cluster_options)
    world.state.repositories |= {url: str(path) for url, path in repositories.items()}
    manner = ServingOptions(
        speed=None if speed is None else float(speed),
        port=0,
        images_port=0,
        talos_port=0,
        objects_port=0,
        git_port=0,
        kube_port=0,
    )
    scratch = tmp_path_factory.mktemp("cluster-lab")
    lab = LabThread(world, scratch, staged_talos_worlds.now, manner=manner)
    yield whole_of(lab, bucket)
    lab.stop()


def _told(request: pytest.FixtureRequest, name: str) -> dict[str, Any]:
    """What the mark of a test says."""
    mark = request.node.get_closest_marker(name)
    return dict(mark.kwargs) if mark is not None else {}


def _refuse_others(name: str, left: dict[str, Any]) -> None:
    """Nothing that a mark says is ignored."""
    if left:
        raise pytest.UsageError(f"the mark {name} takes no {', '.join(sorted(left))}")


def _cluster_options(options: dict[str, Any], *, flux: bool = False) -> ClusterOptions:
    """Takes what is said of a cluster out of what a mark says."""
    return ClusterOptions(
        preset=str(options.pop("preset", "single")),
        network=str(options.pop("network", _NETWORK)),
        talos=options.pop("talos", None),
        pve=str(options.pop("pve", "9.1")),
        seed=int(options.pop("seed", 1)),
        flux=flux,
    )
