"""Clusters with everything in them, on a network of their own, for talosctl and kubectl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from ipaddress import IPv4Network
from pathlib import Path
from subprocess import run
from typing import Any

from stockman_lab.testing.thread import LabThread
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World

from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.patch import Patch
from tests.real.talos.served import Lab, now, succeeded
from tools.pytest_plugin import RealTool

_OWN = {
    "1.14": """\
apiVersion: v1alpha1
kind: KubeFlannelCNIConfig
backendType: vxlan
backendPort: 4789
---
apiVersion: v1alpha1
kind: KubeProxyConfig
enabled: true
---
apiVersion: v1alpha1
kind: KubeCoreDNSConfig
enabled: true
""",
    "": """\
cluster:
  network: {cni: {name: flannel}}
  proxy: {disabled: false}
  coreDNS: {disabled: false}
""",
}
"""What makes Talos itself bring network, proxy and DNS, by minor."""
ACCESS = """\
machine:
  features:
    kubernetesTalosAPIAccess:
      enabled: true
      allowedRoles: [os:reader]
      allowedKubernetesNamespaces: [default]
"""
"""What lets pods of a namespace ask Talos."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Which cluster."""

    preset: str
    version: str
    network: str
    brings_own: bool = False
    """Whether Talos brings network, proxy and DNS. Otherwise Helm brought Cilium."""
    patch: str = ""


@cache
def _file(kind: Kind) -> bytes:
    moment, network = now(), IPv4Network(kind.network)
    world = preset_world(PresetOptions(kind.preset, network, now=float(int(moment.timestamp()))))
    own = _OWN.get(kind.version.rpartition(".")[0], _OWN[""]) if kind.brings_own else ""
    patches = [
        Patch(label=name, file=name, text=text)
        for name, text in (("own.yaml", own), ("more.yaml", kind.patch))
        if text
    ]
    staging = Staging(
        preset=kind.preset,
        network=network,
        talos_version=kind.version,
        real_now=moment - timedelta(hours=1),
        network_plugin=not kind.brings_own,
        patches=PatchSet(controller=tuple(patches)),
    )
    stage_cluster(world, staging)
    return world_file(world.state)


@dataclass
class Whole(Lab):
    """A served cluster, and kubectl as its administrator."""

    kubeconfig: Path = Path()

    def kubectl(self, *arguments: str, text: str = "") -> str:
        """What kubectl prints."""
        command = [str(self.real_tool("kubectl")), "--kubeconfig", str(self.kubeconfig), *arguments]
        done = run(command, input=text, capture_output=True, text=True, check=False, timeout=60)
        return succeeded(done).stdout

    def found(self, *arguments: str) -> list[Any]:
        """Objects that kubectl gets."""
        told = json.loads(self.kubectl("get", *arguments, "-o", "json"))
        return list(told["items"]) if "items" in told else [told]


@contextmanager
def whole(kind: Kind, scratch: Path, real_tool: RealTool) -> Iterator[Whole]:
    """A cluster that answers on the ports that machines have."""
    thread = LabThread(World(read_world(_file(kind))), scratch, now(), port=0)
    config = scratch / "kubeconfig"
    try:
        served = thread.start()
        config.write_text(thread.kubeconfig())
        yield Whole(served, scratch, real_tool, kind.version, config)
    finally:
        thread.stop()
