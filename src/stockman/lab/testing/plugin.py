"""The plugin for pytest: `def test_x(proxmox_lab): ...` gets a Proxmox VE of its own.

@pytest.mark.proxmox_lab(preset="home", pve="8.4")
def test_mine(proxmox_lab): ...
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stockman.lab.testing.thread import ProxmoxLab

_NETWORK = "127.66.0.0/16"
_MARK = "proxmox_lab"


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark."""
    config.addinivalue_line(
        "markers",
        "proxmox_lab(preset='three-node', pve='9.1', network='127.66.0.0/16', seed=1): "
        "which simulated Proxmox VE the fixture `proxmox_lab` is",
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
