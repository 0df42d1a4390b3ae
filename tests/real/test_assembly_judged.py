"""Patched machine configurations are judged by talosctl and talhelper."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from stockman.model.names import NodeName
from stockman.talos.machine.assembly import DOCUMENT_KINDS, ConfigurationAssembler
from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.patch import Patch
from stockman.talos.secrets.bundle import bundle_text
from tests.talos.machine.clusters import TALOS, bundle, desired, node_named
from tools.pytest_plugin import RealTool

ALL = """\
machine:
  sysctls: {vm.nr_hugepages: "1024", vm.swappiness: "1"}
  certSANs: [all.example]
---
apiVersion: v1alpha1
kind: KmsgLogConfig
name: remote
url: udp://127.0.0.1:514/
"""
CONTROLLER = """\
machine:
  sysctls:
    vm.swappiness:
      $patch: delete
cluster:
  etcd: {extraArgs: {listen-metrics-urls: "http://127.0.0.1:2381"}}
"""
NODE = "machine: {sysctls: {vm.nr_hugepages: '2048'}, udev: {rules: [a, b]}}\n"


def patch(name: str, text: str) -> Patch:
    return Patch(label=name, file=name, text=text)


def meaning(text: str) -> list[Any]:
    return list(yaml.load_all(text, Loader=yaml.BaseLoader))


@pytest.mark.parametrize("line", list(TALOS))
def test_talosctl_makes_the_same_of_the_same_patches(
    real_tool: RealTool, tmp_path: Path, line: str
) -> None:
    wanted = desired(line)
    node = node_named(wanted, "cp-1")
    patches = PatchSet(
        all=(patch("all", ALL),),
        controller=(patch("controller", CONTROLLER),),
        nodes={NodeName("cp-1"): (patch("node", NODE),)},
    )
    base = tmp_path / "base.yaml"
    base.write_text(configuration_text(machine_documents(wanted, node, bundle())).reveal())
    talosctl = real_tool(f"talosctl@{TALOS[line]}")
    command: list[str | Path] = [talosctl, "machineconfig", "patch", base]
    for name, text in (("all", ALL), ("controller", CONTROLLER), ("node", NODE)):
        (tmp_path / f"{name}.yaml").write_text(text)
        command += ["--patch", f"@{tmp_path / name}.yaml"]

    ours = ConfigurationAssembler(wanted, bundle(), patches).of(node).text().reveal()
    theirs = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert meaning(ours) == meaning(theirs)
    result = tmp_path / "ours.yaml"
    result.write_text(ours)
    for mode in ("metal", "cloud"):
        subprocess.run(
            [talosctl, "validate", "--config", result, "--mode", mode, "--strict"], check=True
        )


SAMPLES = {
    "machine.network.nameservers": "machine: {network: {nameservers: [127.0.0.1]}}",
    "machine.network.searchDomains": "machine: {network: {searchDomains: [a.example]}}",
    "machine.network.disableSearchDomain": "machine: {network: {disableSearchDomain: true}}",
    "machine.network.hostname": "machine: {network: {hostname: a}}",
    "machine.features.hostDNS": "machine: {features: {hostDNS: {enabled: true}}}",
    "machine.features.stableHostname": "machine: {features: {stableHostname: true}}",
    "machine.features.kubePrism": "machine: {features: {kubePrism: {enabled: true, port: 7445}}}",
    "machine.features.kubernetesTalosAPIAccess": (
        "machine: {features: {kubernetesTalosAPIAccess: {enabled: true, allowedRoles: [os:reader],"
        " allowedKubernetesNamespaces: [a]}}}\n---\napiVersion: v1alpha1\n"
        "kind: KubeTalosAPIAccessConfig\nallowedRoles: [os:reader]\n"
        "allowedKubernetesNamespaces: [kube-system]"
    ),
    "machine.features.imageCache": (
        "machine: {features: {imageCache: {localEnabled: true}}}\n---\napiVersion: v1alpha1\n"
        "kind: ImageCacheConfig\nlocal: {enabled: true}"
    ),
    "machine.time": "machine: {time: {servers: [127.0.0.1]}}",
    "machine.install": "machine: {install: {wipe: true}}",
    "machine.baseRuntimeSpecOverrides": (
        "machine: {baseRuntimeSpecOverrides: {a: 1}}\n---\napiVersion: v1alpha1\n"
        "kind: CRIBaseRuntimeSpecConfig\noverrides: {b: 1}"
    ),
    "machine.kubelet": "machine: {kubelet: {extraArgs: {a: b}}}",
    "machine.nodeLabels": "machine: {nodeLabels: {a: b}}",
    "machine.nodeAnnotations": "machine: {nodeAnnotations: {a: b}}",
    "machine.nodeTaints": "machine: {nodeTaints: {a: 'b:NoSchedule'}}",
    "machine.controlPlane.controllerManager": (
        "machine: {controlPlane: {controllerManager: {disabled: true}}}"
    ),
    "machine.controlPlane.scheduler": "machine: {controlPlane: {scheduler: {disabled: true}}}",
    "cluster.network": "cluster: {network: {dnsDomain: a.example}}",
    "cluster.apiServer": "cluster: {apiServer: {extraArgs: {a: b}}}",
    "cluster.controllerManager": "cluster: {controllerManager: {extraArgs: {a: b}}}",
    "cluster.scheduler": "cluster: {scheduler: {extraArgs: {a: b}}}",
    "cluster.proxy": "cluster: {proxy: {disabled: true}}",
    "cluster.coreDNS": "cluster: {coreDNS: {disabled: true}}",
    "cluster.discovery": "cluster: {discovery: {enabled: true}}",
    "cluster.allowSchedulingOnControlPlanes": "cluster: {allowSchedulingOnControlPlanes: true}",
}


@pytest.mark.parametrize("path", DOCUMENT_KINDS)
def test_talos_refuses_a_field_beside_the_document_that_it_became(
    real_tool: RealTool, tmp_path: Path, path: str
) -> None:
    wanted = desired("1.14")
    talosctl = real_tool(f"talosctl@{TALOS['1.14']}")
    base, sample, result = (tmp_path / f"{name}.yaml" for name in ("base", "sample", "result"))
    node = node_named(wanted, "cp-1")
    base.write_text(configuration_text(machine_documents(wanted, node, bundle())).reveal())
    sample.write_text(SAMPLES[path])
    command: list[str | Path] = [talosctl, "machineconfig", "patch", base]
    command += ["--patch", f"@{sample}", "-o", result]
    subprocess.run(command, capture_output=True, check=True)

    judged = subprocess.run(
        [talosctl, "validate", "--config", result, "--mode", "cloud"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert judged.returncode == 1
    assert "v1alpha1" in judged.stderr


TALCONFIG = """\
clusterName: meadow
talosVersion: v1.13.9
kubernetesVersion: v1.36.0
endpoint: https://127.66.0.10:6443
patches: ["machine: {sysctls: {winner: all, all: '1'}}"]
controlPlane:
  patches: ["machine: {sysctls: {winner: controller, role: controller, second: controller}}"]
nodes:
  - hostname: cp-1
    ipAddress: 127.66.0.21
    controlPlane: true
    installDisk: /dev/sda
    patches: ["machine: {sysctls: {winner: node, second: node}}"]
"""


def test_the_order_of_talhelper_is_that_of_talhelper(real_tool: RealTool, tmp_path: Path) -> None:
    (tmp_path / "talconfig.yaml").write_text(TALCONFIG)
    (tmp_path / "talsecret.yaml").write_text(bundle_text(bundle()).reveal())
    subprocess.run(
        [real_tool("talhelper"), "genconfig", "--offline-mode", "--no-gitignore"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    theirs = meaning((tmp_path / "clusterconfig" / "meadow-cp-1.yaml").read_text())[0]
    wanted = desired("1.13", "talos: {extensions: [a/b], patch_order: talhelper}\n")
    texts = yaml.safe_load(TALCONFIG)
    patches = PatchSet(
        all=(patch("all", texts["patches"][0]),),
        controller=(patch("controller", texts["controlPlane"]["patches"][0]),),
        nodes={NodeName("cp-1"): (patch("node", texts["nodes"][0]["patches"][0]),)},
    )

    ours = ConfigurationAssembler(wanted, bundle(), patches).of(node_named(wanted, "cp-1")).text()

    assert meaning(ours.reveal())[0]["machine"]["sysctls"] == theirs["machine"]["sysctls"]
