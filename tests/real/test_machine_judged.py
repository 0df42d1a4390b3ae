"""Machine configurations are judged by talosctl of each minor."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.config.rules import check
from stockman.model.desired import Desired, Node
from stockman.talos.bundle import bundle_text
from stockman.talos.machine.configuration import configuration_text, machine_documents
from tests.talos.machine.clusters import KUBERNETES, TALOS, bundle, desired, node_named
from tools.pytest_plugin import RealTool

LINES = list(TALOS)


def preset(name: str, line: str) -> Desired:
    """A preset in the style of one Talos line."""
    files = render_preset(name)
    text = files["cluster.yaml"]
    for key, value in (
        ("talos_version", TALOS[line]),
        ("talos_contract", f'"{line}"'),
        ("kubernetes_version", KUBERNETES[line]),
    ):
        text = re.sub(rf"^{key}:.*$", f"{key}: {value}", text, flags=re.MULTILINE)
    loaded = load({"cluster.yaml": text.encode(), "nodes.yaml": files["nodes.yaml"].encode()})
    check(loaded)
    return resolve(loaded)


def written(wanted: Desired, node: Node, place: Path) -> Path:
    """The file of one node's configuration."""
    path = place / f"{node.name}.yaml"
    path.write_text(configuration_text(machine_documents(wanted, node, bundle())).reveal())
    return path


@pytest.mark.parametrize("mode", ["metal", "cloud"])
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["single", "three-node", "fifteen-node"])
def test_talosctl_accepts_every_preset(
    real_tool: RealTool, tmp_path: Path, name: str, line: str, mode: str
) -> None:
    talosctl = real_tool(f"talosctl@{TALOS[line]}")
    wanted = preset(name, line)
    roles = {node.role: node for node in wanted.nodes}

    for node in roles.values():
        path = written(wanted, node, tmp_path)
        done = subprocess.run(
            [talosctl, "validate", "--config", path, "--mode", mode, "--strict"],
            capture_output=True,
            text=True,
            check=False,
        )
        told = done.stdout + done.stderr
        assert (done.returncode, told) == (0, f"{path} is valid for {mode} mode\n")


OLD_NETWORK = """\
machine:
  network:
    hostname: {name}
    disableSearchDomain: true
    nameservers: [1.1.1.1, 1.0.0.1]
    interfaces:
      - deviceSelector: {{hardwareAddr: "bc:24:11:00:00:21"}}
        mtu: 1500
        dhcp: false
        addresses: [127.66.0.21/24]
        routes: [{{network: 0.0.0.0/0, gateway: 127.66.0.1}}]
        vip: {{ip: 127.66.0.10}}
  time: {{servers: [162.159.200.1, 162.159.200.123]}}
  registries:
    mirrors: {{docker.io: {{endpoints: ["https://127.66.0.5"]}}}}
    config: {{docker.io: {{auth: {{username: u, password: grazing}}}}}}
"""
NETWORK = """\
apiVersion: v1alpha1
kind: HostnameConfig
auto: "off"
hostname: {name}
---
apiVersion: v1alpha1
kind: LinkAliasConfig
name: net0
selector: {{match: 'mac(link.permanent_addr) == "bc:24:11:00:00:21"'}}
---
apiVersion: v1alpha1
kind: LinkConfig
name: net0
up: true
mtu: 1500
addresses: [{{address: 127.66.0.21/24}}]
routes: [{{gateway: 127.66.0.1}}]
---
apiVersion: v1alpha1
kind: Layer2VIPConfig
name: 127.66.0.10
link: net0
---
apiVersion: v1alpha1
kind: ResolverConfig
nameservers: [{{address: 1.1.1.1}}, {{address: 1.0.0.1}}]
searchDomains: {{disableDefault: true}}
---
apiVersion: v1alpha1
kind: TimeSyncConfig
ntp: {{servers: [162.159.200.1, 162.159.200.123]}}
---
apiVersion: v1alpha1
kind: RegistryMirrorConfig
name: docker.io
endpoints: [{{url: "https://127.66.0.5"}}]
---
apiVersion: v1alpha1
kind: RegistryAuthConfig
name: docker.io
username: u
password: grazing
"""
OLD_CLUSTER = """\
machine:
  kubelet: {nodeIP: {validSubnets: [127.66.0.0/24]}}
cluster:
  network: {cni: {name: none}, podSubnets: [10.42.0.0/16], serviceSubnets: [10.43.0.0/16]}
  proxy: {disabled: true}
  coreDNS: {disabled: true}
  allowSchedulingOnControlPlanes: false
  etcd: {advertisedSubnets: [127.66.0.0/24]}
"""
CLUSTER_114 = """\
cluster: {etcd: {advertisedSubnets: [127.66.0.0/24]}}
---
apiVersion: v1alpha1
kind: KubeNodeConfig
nodeIP: {validSubnets: [127.66.0.0/24]}
---
apiVersion: v1alpha1
kind: KubeNetworkConfig
podSubnets: [10.42.0.0/16]
serviceSubnets: [10.43.0.0/16]
---
apiVersion: v1alpha1
kind: KubeProxyConfig
enabled: false
---
apiVersion: v1alpha1
kind: KubeCoreDNSConfig
enabled: false
---
apiVersion: v1alpha1
kind: KubeFlannelCNIConfig
$patch: delete
"""


def patches(line: str) -> list[str]:
    """What a user of talosctl would write to get the same machine."""
    network = OLD_NETWORK if line == "1.11" else NETWORK
    return [network.format(name="cp-1"), CLUSTER_114 if line == "1.14" else OLD_CLUSTER]


def meaning(text: str) -> dict[tuple[str, str], Any]:
    """Documents by kind and name; lists of names without their order, empty parts left out."""
    found = {}
    for document in yaml.load_all(text, Loader=yaml.BaseLoader):
        names = (str(document.get("kind", "v1alpha1")), str(document.get("name", "")))
        found[names] = filled(document)
    return found


def filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: sorted(set(item)) if key in ("certSANs", "certExtraSANs") else filled(item)
            for key, item in value.items()
            if item not in ({}, [], "", None)
        }
    return [filled(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("line", LINES)
def test_gen_config_with_the_same_wishes_makes_the_same_machine(
    real_tool: RealTool, tmp_path: Path, line: str
) -> None:
    wanted = desired(line)
    node = node_named(wanted, "cp-1")
    ours = written(wanted, node, tmp_path).read_text()
    image = re.search(r"factory\.talos\.dev/nocloud-installer/\S+", ours)
    assert image is not None
    secrets = tmp_path / "secrets.yaml"
    secrets.write_text(bundle_text(bundle()).reveal())
    command: list[str | Path] = [
        real_tool(f"talosctl@{TALOS[line]}"),
        *("gen", "config", "meadow", "https://127.66.0.10:6443"),
        *("--with-secrets", secrets, "--kubernetes-version", KUBERNETES[line]),
        *("--install-disk", "/dev/sda", "--install-image", image[0]),
        *("--additional-sans", "127.66.0.10,api.example.com"),
        *("--with-docs=false", "--with-examples=false"),
        *("--output-types", "controlplane", "--output", "-"),
    ]
    for number, patch in enumerate(patches(line)):
        path = tmp_path / f"patch-{number}.yaml"
        path.write_text(patch)
        command += ["--config-patch", f"@{path}"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert meaning(ours) == meaning(done.stdout)
