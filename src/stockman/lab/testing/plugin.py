"""The plugin for pytest: `def test_x(proxmox_lab): ...` gets a Proxmox VE of its own.

@pytest.mark.proxmox_lab(preset="home", pve="8.4")
def test_mine(proxmox_lab): ...

@pytest.mark.talos_lab(preset="single", talos="1.13.9")
def test_a_cluster(talos_lab): ...
`s3_lab` is an object storage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stockman.lab.testing.staged import StagedWorlds
    from stockman.lab.testing.storage import S3Lab
    from stockman.lab.testing.thread import ProxmoxLab, TalosLab

_NETWORK = "127.66.0.0/16"
_MARK = "proxmox_lab"
_TALOS_MARK = "talos_lab"
_STORAGE_MARK = "s3_lab"


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


@pytest.fixture
def proxmox_lab(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProxmoxLab]:
    """A simulated Proxmox VE that answers on loopback addresses while the test runs."""
    from datetime import UTC, datetime
    from ipaddress import IPv4Network

    from stockman.lab.testing.thread import LabThread
    from stockman.lab.world.preset import Wish, preset_world

    mark = request.node.get_closest_marker(_MARK)
    wanted = dict(mark.kwargs) if mark is not None else {}
    now = datetime.now(UTC)  # noqa: TID251  # certificates have to be valid to real clients
    world = preset_world(
        Wish(
            preset=str(wanted.pop("preset", "three-node")),
            network=IPv4Network(str(wanted.pop("network", _NETWORK))),
            profile=str(wanted.pop("pve", "9.1")),
            seed=int(wanted.pop("seed", 1)),
            now=float(int(now.timestamp())),
        )
    )
    port = int(wanted.pop("port", 0))
    if wanted:
        raise pytest.UsageError(f"the mark {_MARK} takes no {', '.join(sorted(wanted))}")
    lab = LabThread(world, tmp_path_factory.mktemp("proxmox-lab"), now, port)
    yield lab.start()
    lab.stop()


@pytest.fixture(scope="session")
def staged_talos_worlds() -> StagedWorlds:
    """Clusters that were made in this session: each once, and a copy for every test."""
    from datetime import UTC, datetime

    from stockman.lab.testing.staged import StagedWorlds

    return StagedWorlds(datetime.now(UTC))  # noqa: TID251  # certificates are for real clients


@pytest.fixture
def talos_lab(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    staged_talos_worlds: StagedWorlds,
) -> Iterator[TalosLab]:
    """A simulated Talos cluster, bootstrapped and ready, that answers while the test runs."""
    from stockman.lab.testing.staged import StagedWish
    from stockman.lab.testing.thread import LabThread, TalosPorts

    mark = request.node.get_closest_marker(_TALOS_MARK)
    wanted = dict(mark.kwargs) if mark is not None else {}
    wish = StagedWish(
        preset=str(wanted.pop("preset", "single")),
        network=str(wanted.pop("network", _NETWORK)),
        talos=wanted.pop("talos", None),
        pve=str(wanted.pop("pve", "9.1")),
        seed=int(wanted.pop("seed", 1)),
    )
    port = int(wanted.pop("port", 0))
    if wanted:
        raise pytest.UsageError(f"the mark {_TALOS_MARK} takes no {', '.join(sorted(wanted))}")
    world = staged_talos_worlds.copy(wish)
    scratch = tmp_path_factory.mktemp("talos-lab")
    lab = LabThread(world, scratch, staged_talos_worlds.now, 0, talos=TalosPorts(api=port))
    yield lab.talos(lab.start())
    lab.stop()


@pytest.fixture
def s3_lab(request: pytest.FixtureRequest) -> Iterator[S3Lab]:
    """A simulated object storage that answers on a loopback address while the test runs."""
    from datetime import UTC, datetime

    from stockman.lab.testing.storage import StorageThread
    from stockman.lab.world.world import World

    mark = request.node.get_closest_marker(_STORAGE_MARK)
    wanted = dict(mark.kwargs) if mark is not None else {}
    bucket, seed = str(wanted.pop("bucket", "lab")), int(wanted.pop("seed", 1))
    if wanted:
        raise pytest.UsageError(f"the mark {_STORAGE_MARK} takes no {', '.join(sorted(wanted))}")

    def now() -> datetime:
        return datetime.now(UTC)  # noqa: TID251  # what real clients sign by

    world = World.new(seed=seed, now=float(int(now().timestamp())))
    lab = StorageThread(world, now, bucket)
    yield lab.start()
    lab.stop()
