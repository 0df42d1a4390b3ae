"""Many Talos machines in one lab: memory of a thousand, and how long fifteen take to come up.

    python -m bench.thousand

Prints the ratios with their limits; exits with 1 when one is over.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from datetime import datetime
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from bench.measure import cpu_seconds
from bench.ratio import Ratio, report

if TYPE_CHECKING:
    from stockman_lab.world.staging import Staged
    from stockman_lab.world.world import World

MACHINES = 1_000
CONTROLLERS = 3
FIFTEEN = "fifteen-node"
ROUNDS = 3
NETWORK = IPv4Network("127.83.0.0/16")
MIB = 1 << 20

_CLUSTER = """\
cluster_name: meadow
node_cidr: 127.83.0.0/16
node_default_gateway: 127.83.0.1
cluster_api_addr: 127.83.0.10
cluster_gateway_addr: 127.83.0.11
cluster_dns_gateway_addr: 127.83.0.12
cluster_pod_cidr: 10.64.0.0/12
repository_name: example/meadow
cloudflare_enabled: false
talos_version: 1.13.9
kubernetes_version: 1.36.3
proxmox_endpoint: https://127.83.0.4:8006
proxmox_token_id: stockman@pve!stockman
proxmox_token_secret: ${PROXMOX_TOKEN_SECRET}
talos: {extensions: [siderolabs/qemu-guest-agent]}
"""
_NODE = """\
  - name: node-{number}
    address: 127.83.{third}.{fourth}
    controller: {controller}
    disk: /dev/sda
    mac_addr: "bc:24:11:00:{b:02x}:{c:02x}"
    vm: {{vmid: {vmid}, host: {host}, cores: 2, memory: 4096, disk_gb: 20,
         datastore: local-lvm, bridge: vmbr1}}
"""


def ratios() -> list[Ratio]:
    """Everything that is measured here, by processes that nothing else has warmed up."""
    bare = min(_seconds("-c", "pass") for _ in range(10))
    fifteen = min(_seconds("-m", "bench.thousand", "fifteen") for _ in range(ROUNDS))
    answer = subprocess.run(
        [sys.executable, "-m", "bench.thousand", "many"],
        env=_environment(),
        capture_output=True,
        check=True,
        text=True,
    )
    memory, seconds, fewer = (float(text) for text in answer.stdout.split())
    return [
        Ratio(
            "15 machines from power on to etcd / bare",
            fifteen / bare,
            250.0,
            f"{fifteen * 1000:.0f} ms / {bare * 1000:.0f} ms, the whole process",
        ),
        Ratio("MiB of a lab with 1,000 machines", memory, 1024.0, f"{seconds:.0f} s until all run"),
        Ratio(
            "1,000 machines / 10 x 100 machines",
            seconds / (10 * fewer),
            None,
            f"{seconds:.1f} s / 10 x {fewer:.2f} s",
        ),
    ]


def fifteen() -> None:
    """Bring a preset's machines up, in a world of its own."""
    from stockman_lab.world.preset import PresetOptions, preset_world
    from stockman_lab.world.staging import Staging, stage_cluster

    world = preset_world(PresetOptions(FIFTEEN, NETWORK))
    stage_cluster(world, Staging(preset=FIFTEEN, network=NETWORK))
    _check(world, 15)


def many() -> None:
    """Print MiB at the most, and seconds until 1,000 and 100 machines are up."""
    fewer = _up(MACHINES // 10)
    seconds = _up(MACHINES)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    print(peak, seconds, fewer)


def _up(machines: int) -> float:
    import time

    from stockman_lab.world.staging import bring_up

    world, staged = _staged(machines)
    begin = time.process_time()
    bring_up(world, staged)
    taken = time.process_time() - begin
    _check(world, machines)
    return taken


def world_of(machines: int, now: datetime | None = None) -> World:
    """A world in which so many machines run, some time after a moment."""
    from stockman_lab.world.staging import bring_up

    world, staged = _staged(machines, now)
    bring_up(world, staged)
    _check(world, machines)
    return world


def _staged(machines: int, now: datetime | None = None) -> tuple[World, Staged]:
    from stockman_lab.world.preset import PresetOptions, preset_world
    from stockman_lab.world.staging import Staging, stage_files

    wish = PresetOptions(FIFTEEN, NETWORK)
    if now is not None:
        wish = PresetOptions(FIFTEEN, NETWORK, now=now.timestamp())
    world = preset_world(wish)
    for cluster in world.clusters.values():
        for host in cluster.state.hosts.values():
            host.memory *= 100
            for pool in host.pools.values():
                pool.size *= 100
    wanted = Staging(preset=FIFTEEN, network=NETWORK, bootstrap=False)
    return world, stage_files(world, _files(machines, list(*_hosts(world))), wanted)


def _hosts(world: World) -> list[list[str]]:
    return [list(item.state.hosts) for item in world.clusters.values()]


def _files(machines: int, hosts: list[str]) -> dict[str, str]:
    nodes = ["nodes:\n"]
    for number in range(machines):
        folder = number + 256
        nodes.append(
            _NODE.format(
                number=number,
                third=folder >> 8,
                fourth=folder & 255,
                controller="true" if number < CONTROLLERS else "false",
                b=number >> 8,
                c=number & 255,
                vmid=1000 + number,
                host=hosts[number % len(hosts)],
            )
        )
    return {"cluster.yaml": _CLUSTER, "nodes.yaml": "".join(nodes)}


def _check(world: World, machines: int) -> None:
    from stockman_lab.talos.state import Stage

    running = sum(item.state.stage is Stage.RUNNING for item in world.talos.machines)
    healthy = sum(
        item.runs("etcd") and item.state.services["etcd"].is_healthy is True
        for item in world.talos.machines
    )
    if (running, healthy) != (machines, CONTROLLERS):
        raise RuntimeError(f"{running} machines run, {healthy} members of etcd are well")


def _seconds(*arguments: str) -> float:
    return cpu_seconds([sys.executable, *arguments], _environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def main(arguments: list[str]) -> int:
    """Measure, or be one of the processes that are measured."""
    match arguments:
        case ["fifteen"]:
            fifteen()
        case ["many"]:
            many()
        case _:
            return report(ratios())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
