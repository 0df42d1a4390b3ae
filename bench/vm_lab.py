"""A lab in a process of its own: hosts of Proxmox VE that take as long as real ones, or no time.

Tasks take what the lab rolls for them: an import 0.5 to 2 s a GiB, a start 1 to 3 s. Every request
is answered 20 ms late, as by hosts that have more to do than to answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.world.world import World

NETWORK = IPv4Network("127.96.0.0/16")
IMAGE = "local:import/system.qcow2"
HOSTS = ("baldar", "heimdall", "loki", "thor")
REAL_TIME = "1"
AT_ONCE = "max"
_IMAGE_MIB = 2247
"""As large as an image of Talos."""
_LATENCY = 0.02
_MIB = 1 << 20
_PRESET = "fifteen-node"
_ROOM = 20
"""How many times the memory and the disks of the preset there are."""


@dataclass(frozen=True, slots=True)
class VmLab:
    """A lab that runs: where it answers, and who may ask."""

    endpoint: str
    ca: Path
    token_id: str
    token_secret: str
    factory: str
    """Where images of Talos are."""


@contextmanager
def vm_lab(speed: str, seed: int = 1) -> Iterator[VmLab]:
    """A new lab, in real time or as fast as it can; with the same seed, the same dice."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.vm_lab", speed, folder, str(seed)]
        with subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            answer = json.loads(server.stdout.readline())
            try:
                yield VmLab(
                    answer["endpoint"],
                    Path(answer["ca"]),
                    answer["token"],
                    answer["secret"],
                    answer["factory"],
                )
            finally:
                server.send_signal(signal.SIGTERM)


def main(speed: str, folder: str, seed: str) -> None:
    """Serve until killed; says where on one line."""
    from stockman_lab.servers.options import ServingOptions
    from stockman_lab.testing.thread import LabThread

    now = datetime.now(UTC)
    manner = ServingOptions(
        speed=None if speed == AT_ONCE else float(speed), port=0, images_port=0, kube_port=None
    )
    world = _world(now, int(seed), late=speed != AT_ONCE)
    thread = LabThread(world, Path(folder), now, manner=manner)
    lab = thread.start()
    answer = {
        "endpoint": lab.endpoint,
        "ca": str(lab.ca),
        "token": lab.token_id,
        "secret": lab.token_secret,
        "factory": thread.talos(lab).factory,
    }
    print(json.dumps(answer), flush=True)
    asyncio.run(_for_ever())


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def _world(now: datetime, seed: int, *, late: bool) -> World:
    from stockman_lab.core.faults import Effect, Fault, Point
    from stockman_lab.guest.network import Pool
    from stockman_lab.images.facts import ImageFacts
    from stockman_lab.images.image import Form
    from stockman_lab.images.making import disk_image
    from stockman_lab.pve.storages.receiving import ReceivedFile, put_file
    from stockman_lab.world.preset import PresetOptions, preset_world

    world = preset_world(PresetOptions(_PRESET, NETWORK, now=now.timestamp(), seed=seed))
    facts = ImageFacts(platform="linux", virtual_size=_IMAGE_MIB * _MIB)
    storage, _, name = IMAGE.partition(":")
    content, _, filename = name.partition("/")
    image = ReceivedFile(content=content, filename=filename, data=disk_image(facts, Form.QCOW2))
    # Clients do not take a loopback address for one of a machine.
    network = Pool(bridge="vmbr1", vlan=None, first="fd00:96::/64", count=0, announced=True)
    world.state.network.pools.append(network)
    (cluster,) = world.clusters.values()
    for host in cluster.state.hosts.values():
        host.memory *= _ROOM
        for pool in host.pools.values():
            pool.size *= _ROOM
        put_file(cluster, cluster.state.storages[storage], host, image)
    if late:
        delay = Fault(point=Point.REQUEST, effect=Effect.DELAY, seconds=_LATENCY, times=None)
        world.faults.add(delay)
    return world


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


if __name__ == "__main__":
    main(*sys.argv[1:])
