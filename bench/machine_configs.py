"""Machine configurations of 200 nodes against `talhelper genconfig` and `talosctl gen config`.

    python -m bench.machine_configs

Prints both ratios with their limits; exits with 1 when one is over. CPU time of whole programs,
with the same number of nodes and the same patches on all sides.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bench.estates import estate
from bench.measure import cpu_seconds
from bench.ratio import Ratio, report

NODES = 200
ROUNDS = 3
CALLS = 10
"""Calls of talosctl that are measured; the others take the same."""
IMAGE = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"

PATCHES = {
    "all": """\
machine:
  sysctls:
    fs.inotify.max_user_watches: "1048576"
    net.core.rmem_max: "67108864"
  kubelet:
    extraArgs:
      image-gc-high-threshold: "55"
""",
    "more": """\
machine:
  files:
    - op: create
      path: /etc/cri/conf.d/20-customization.part
      permissions: 0o644
      content: |
        [plugins."io.containerd.cri.v1.images"]
          discard_unpacked_layers = false
""",
    "controller": """\
cluster:
  etcd:
    extraArgs:
      listen-metrics-urls: http://127.0.0.1:2381
""",
    "worker": """\
machine:
  nodeLabels:
    example.com/pool: general
""",
}
_TALOS = "talos: {extensions: [siderolabs/qemu-guest-agent]}\n"
_KEYS = (
    'patches: {all: ["@./all.yaml", "@./more.yaml"],'
    ' controller: ["@./controller.yaml"], worker: ["@./worker.yaml"]}'
)
_TALCONFIG = """\
clusterName: meadow
talosVersion: v1.13.9
kubernetesVersion: v1.36.3
endpoint: https://127.64.0.2:6443
cniConfig: {name: none}
patches: ["@./all.yaml", "@./more.yaml"]
controlPlane:
  patches: ["@./controller.yaml"]
worker:
  patches: ["@./worker.yaml"]
nodes:
"""
_TALNODE = """\
  - hostname: node-{number}
    ipAddress: 127.65.{third}.{fourth}
    controlPlane: {controller}
    installDisk: /dev/sda
    talosImageURL: factory.talos.dev/nocloud-installer/{image}
    networkInterfaces:
      - deviceSelector: {{hardwareAddr: "bc:24:11:00:00:{number:02x}"}}
        dhcp: false
        mtu: 9000
        addresses: [127.65.{third}.{fourth}/12]
        routes: [{{network: 0.0.0.0/0, gateway: 127.64.0.1}}]
"""


def workspace(directory: Path) -> None:
    """A directory of stockman with so many nodes, its key and its secrets bundle."""
    from stockman.crypto.age import identities
    from stockman.crypto.age.identities import parse_identities
    from stockman.crypto.sops.files import EncryptionInputs, encrypt
    from stockman.crypto.sops.selectors import EncryptionSettings
    from stockman.model.version import Version
    from stockman.talos.secrets.bundle import bundle_text, new_bundle

    now = datetime.now(UTC)
    files = estate(NODES)
    plain = files["cluster.yaml"].decode()
    files["cluster.yaml"] = plain.replace(_TALOS, f"{_TALOS[:-2]}, {_KEYS}}}\n").encode()
    for name, content in files.items():
        (directory / name).write_bytes(content)
    for name, text in PATCHES.items():
        (directory / f"{name}.yaml").write_text(text)
    identity = identities.age_key_pair(os.urandom(identities.IDENTITY_BYTES), post_quantum=False)
    key = directory / "age.key"
    key.write_text(identities.render_age_key_file(identity, now).reveal())
    key.chmod(0o600)
    bundle = bundle_text(new_bundle(Version(1, 13), now, os.urandom)).reveal()
    (directory / "talsecret.yaml").write_text(bundle)
    recipe = EncryptionSettings(recipients=(parse_identities(key.read_text())[0].recipient,))
    fresh = EncryptionInputs(now=now, random_bytes=os.urandom)
    path = "talos/talsecret.sops.yaml"
    (directory / "talos").mkdir()
    (directory / path).write_bytes(encrypt(bundle.encode(), path, recipe, fresh))


def talconfig(directory: Path) -> None:
    """The same cluster for talhelper."""
    lines = [_TALCONFIG]
    for number in range(NODES):
        place = number + 16
        lines.append(
            _TALNODE.format(
                number=number,
                third=place >> 8 & 255,
                fourth=place & 255,
                controller="true" if number < 3 else "false",
                image=IMAGE,
            )
        )
    (directory / "talconfig.yaml").write_text("".join(lines))


def machine_configs(directory: Path, talhelper: Path, talosctl: Path) -> list[Ratio]:
    """The files of all nodes, written by each of the three."""
    workspace(directory)
    talconfig(directory)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    ours = [sys.executable, "-m", "stockman", "-C", str(directory), "config", "machine"]
    ours += ["--all", "--show-secrets", "--output-dir", str(directory / "ours")]
    theirs = [str(talhelper), "genconfig", "--offline-mode", "--no-gitignore"]
    theirs += ["--config-file", "talconfig.yaml", "--secret-file", "talsecret.yaml"]
    theirs += ["--out-dir", str(directory / "theirs")]
    calls = [_gen_config(talosctl, directory, number) for number in range(CALLS)]
    best = {"ours": float("inf"), "talhelper": float("inf"), "talosctl": float("inf")}
    with contextlib.chdir(directory):
        for _ in range(ROUNDS):
            spent = {
                "ours": cpu_seconds(ours, environment),
                "talhelper": cpu_seconds(theirs, environment),
                "talosctl": sum(cpu_seconds(one, environment) for one in calls) * NODES / CALLS,
            }
            best = {name: min(best[name], spent[name]) for name in best}
    return [
        Ratio(
            f"machine configs of {NODES} nodes / {name}",
            best["ours"] / best[peer],
            limit,
            f"{best['ours']:.2f} s / {best[peer]:.2f} s of CPU",
        )
        for name, peer, limit in (
            ("talhelper", "talhelper", 0.6),
            (f"{NODES} talosctl", "talosctl", 0.2),
        )
    ]


def _gen_config(talosctl: Path, directory: Path, number: int) -> list[str]:
    patch = directory / f"node-{number}.yaml"
    patch.write_text(f"machine: {{network: {{hostname: node-{number}}}}}\n")
    command = [str(talosctl), "gen", "config", "meadow", "https://127.64.0.2:6443", "--force"]
    command += ["--with-secrets", str(directory / "talsecret.yaml"), "--talos-version", "v1.11"]
    command += ["--with-docs=false", "--with-examples=false", "--output-types", "worker"]
    command += ["--output", str(directory / f"talosctl-{number}.yaml")]
    for name in ("all.yaml", "more.yaml", "worker.yaml", patch.name):
        command += ["--config-patch", f"@{directory / name}"]
    return command


def ratios() -> list[Ratio]:
    """Everything that is measured here; nothing where the programs cannot be had."""
    from tools.errors import ToolError
    from tools.provide import Provider

    provider = Provider()
    try:
        talhelper, talosctl = (provider.path(one) for one in ("talhelper", "talosctl@1.13.9"))
    except ToolError as missing:
        print(f"talhelper and talosctl are left out: {missing}")
        return []
    with tempfile.TemporaryDirectory() as made:
        return machine_configs(Path(made), talhelper, talosctl)


if __name__ == "__main__":
    sys.exit(report(ratios()))
