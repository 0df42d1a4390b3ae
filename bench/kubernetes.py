"""Kubernetes in the lab: a cluster of fifteen until all is ready, and a thousand nodes.

    python -m bench.kubernetes

Prints the ratios with their limits; exits with 1 when one is over.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bench import kubernetes_rates, thousand
from bench.measure import cpu_seconds, least_call
from bench.ratio import Ratio, report

if TYPE_CHECKING:
    from stockman_lab.kube.clusters.clusters import KubernetesCluster
    from stockman_lab.world.world import World

FIFTEEN = "fifteen-node"
UPS = 3
NODES = 1_000
DEPLOYMENTS, REPLICAS = 50, 100
ROUNDS = 5
MIB = 1 << 20
NETWORK_IMAGE = "example/cilium/cilium:v1.18.4"
EVERYTHING = "/api/v1/pods"


def ratios() -> list[Ratio]:
    """Everything that is measured here, by processes that nothing else has warmed up."""
    return [*_fifteen(), *_thousand(), *kubernetes_rates.ratios()]


def _fifteen() -> list[Ratio]:
    """`lab up` with a whole cluster, until its doors are open: CPU time and memory."""
    bare = min(cpu_seconds([sys.executable, "-c", "pass"], _environment()) for _ in range(10))
    seconds, memory = float("inf"), 0.0
    for number in range(UPS):
        taken, used = _up(f"127.{140 + number}.0.0/16")
        seconds, memory = min(seconds, taken), max(memory, used)
    return [
        Ratio(
            "lab up of 15 nodes, all ready / bare",
            seconds / bare,
            500.0,
            f"{seconds * 1000:.0f} ms / {bare * 1000:.0f} ms, the whole process",
        ),
        Ratio("MiB of a lab with such a cluster", memory, 400.0, "at the most"),
    ]


def _up(network: str) -> tuple[float, float]:
    """CPU seconds and MiB of a lab until its doors are open."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "lab.state")
        command = [
            *(sys.executable, "-m", "stockman", "lab", "up", "--preset", FIFTEEN),
            *("--stage", "cluster", "--speed", "max", "--network", network, "--state", str(state)),
        ]
        with subprocess.Popen(command, env=_environment(), stderr=subprocess.DEVNULL) as process:
            try:
                while not Path(f"{state}.run").exists():
                    assert process.poll() is None
                    time.sleep(0.01)
                measured = _used(process.pid)
            finally:
                process.send_signal(signal.SIGTERM)
        _check_saved(state)
    return measured


def _used(pid: int) -> tuple[float, float]:
    about = Path(f"/proc/{pid}")
    seconds = int((about / "schedstat").read_text().split()[0]) / 1e9
    peak = (about / "status").read_text().partition("VmHWM:")[2].split()[0]
    return seconds, int(peak) * 1024 / MIB


def _check_saved(state: Path) -> None:
    """Fail where a lab that was saved does not have all nodes ready."""
    from stockman_lab.world.file import read_world
    from stockman_lab.world.world import World

    check(cluster_of(World(read_world(state.read_bytes()))), 15, 15)


def _thousand() -> list[Ratio]:
    answer = subprocess.run(
        [sys.executable, "-m", "bench.kubernetes", "many", str(NODES)],
        env=_environment(),
        capture_output=True,
        check=True,
        text=True,
    )
    memory, seconds, listed, wired, written = (float(text) for text in answer.stdout.split())
    return [
        Ratio(
            "MiB of 1,000 nodes with 5,000 pods", memory, 1536.0, f"{seconds:.0f} s until all run"
        ),
        Ratio(
            "list of 5,000 pods / its JSON",
            listed / written,
            15.0,
            f"{listed * 1000:.0f} ms / {written * 1000:.0f} ms",
        ),
        Ratio(
            "the same list over HTTPS / its JSON",
            wired / written,
            15.0,
            f"{wired * 1000:.0f} ms / {written * 1000:.0f} ms, its client included",
        ),
    ]


def many(nodes: int) -> None:
    """Print MiB at the most, and seconds: until all run, of a list, over HTTPS, of its JSON."""
    world = thousand.world_of(nodes, datetime.now(UTC) - timedelta(days=1))
    cluster = cluster_of(world)
    begin = time.process_time()
    _fill(world)
    seconds = time.process_time() - begin
    check(cluster, nodes, nodes + DEPLOYMENTS * REPLICAS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    content = json.loads(_asked(cluster, EVERYTHING))
    measured = least_call(
        {"list": lambda: _asked(cluster, EVERYTHING), "json": lambda: json.dumps(content)}, ROUNDS
    )
    with tempfile.TemporaryDirectory() as folder:
        wired = asyncio.run(_over_https(world, Path(folder)))
    print(peak, seconds, measured["list"], wired, measured["json"])


async def _over_https(world: World, scratch: Path) -> float:
    """The least CPU seconds of a list with all that carries it, its client too."""
    least = float("inf")
    with kubernetes_rates.open_server(world, scratch) as server:
        for _ in range(ROUNDS):
            begin = time.process_time()
            await kubernetes_rates.answer(server, EVERYTHING)
            least = min(least, time.process_time() - begin)
    return least


def cluster_of(world: World) -> KubernetesCluster:
    """The one cluster of a world."""
    measured = world.kubernetes.cluster_of(world.talos.machines[0])
    assert measured is not None
    return measured


def _fill(world: World) -> None:
    """Give a cluster a network on all nodes, and deployments; wait until all pods run."""
    apps = "/apis/apps/v1/namespaces"
    everywhere = {"hostNetwork": True, "tolerations": [{"operator": "Exists"}]}
    network = _workload("net", NETWORK_IMAGE, everywhere)
    kubernetes_rates.create(world, f"{apps}/kube-system/daemonsets", network)
    world.settle()
    for number in range(DEPLOYMENTS):
        body = _workload(f"flock-{number}", "example/sheep:1", {})
        body["spec"]["replicas"] = REPLICAS
        kubernetes_rates.create(world, f"{apps}/default/deployments", body)
    world.settle()


def _workload(name: str, image: str, spec: dict[str, object]) -> dict[str, dict[str, object]]:
    labels = {"app": name}
    requests = {"cpu": "10m", "memory": "16Mi"}
    container = {"name": "main", "image": image, "resources": {"requests": requests}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}}
    return {
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def check(cluster: KubernetesCluster, nodes: int, pods: int) -> None:
    """Fail where not all nodes are ready, or not so many pods run at least."""
    objects = cluster.controllers.objects
    ready = sum(
        item["type"] == "Ready" and item["status"] == "True"
        for node in objects.listed("nodes")
        for item in node["status"]["conditions"]
    )
    phases = Counter(item["status"]["phase"] for item in objects.listed("pods"))
    if ready != nodes or phases["Running"] < pods or len(phases) > 1:
        raise RuntimeError(f"{ready} nodes are ready; pods: {dict(phases)}")


def _asked(cluster: KubernetesCluster, path: str) -> bytes:
    from stockman_lab.kube.api.messages import Request, User

    headers = {"user-agent": "bench", "accept": "application/json"}
    answer = cluster.handle(
        Request("GET", path, {}, headers, user=User("admin", ("system:masters",)))
    )
    assert answer.status == 200
    return answer.body


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def main(arguments: list[str]) -> int:
    """Measure, or be one of the processes that are measured."""
    match arguments:
        case ["many", nodes]:
            many(int(nodes))
        case _:
            return report(ratios())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
