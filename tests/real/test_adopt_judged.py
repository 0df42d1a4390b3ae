"""What OpenTofu and talosctl made in the lab is adopted over the wire, and nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network
from pathlib import Path
from subprocess import CompletedProcess, run

from stockman_lab.factory import assets, names
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.testing.thread import LabThread, ProxmoxLab
from stockman_lab.world.preset import PresetOptions, preset_world

from lab.tests.machines import put_file
from tests.cli.running import REAL, Ran, ran
from tests.real.talos.served import EMPTY, now, succeeded
from tests.real.tofu import Tofu
from tools.pytest_plugin import RealTool

VERSION = "1.13.9"
ADDRESS = "127.84.0.11"
_PATIENCE = 60
_WISHES = """\
machine:
  sysctls:
    vm.nr_hugepages: "1024"
cluster:
  allowSchedulingOnControlPlanes: true
---
apiVersion: v1alpha1
kind: HostnameConfig
auto: "off"
hostname: cp-1
"""


@contextmanager
def empty_lab(scratch: Path) -> Iterator[ProxmoxLab]:
    """A host without a VM, and with an image of Talos."""
    world = preset_world(
        PresetOptions("single", IPv4Network("127.84.0.0/16"), now=now().timestamp() // 1)
    )
    door = MemoryClient(world, next(iter(world.clusters)))
    asset = names.asset("nocloud-amd64.qcow2")
    order = assets.order(world.factory, EMPTY, f"v{VERSION}", asset)
    content = assets.content_of(world.factory, order)
    put_file(door, "import/talos.qcow2", content, host="pve")
    lab = LabThread(world, scratch, now(), port=0)
    try:
        yield lab.start()
    finally:
        lab.stop()


def made_with_talosctl(lab: ProxmoxLab, program: Path, home: Path) -> None:
    """A cluster of one machine, as the documentation of Talos has it."""
    (home / "wishes.yaml").write_text(_WISHES)

    def talosctl(*words: str) -> CompletedProcess[str]:
        return succeeded(
            run(
                [str(program), *words],
                cwd=home,
                env={"HOME": str(home), "TALOSCONFIG": str(home / "talosconfig")},
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                check=False,
            )
        )

    endpoint = f"https://{ADDRESS}:6443"
    talosctl("gen", "config", "by-hand", endpoint, "--config-patch", "@wishes.yaml")
    at = ("--nodes", ADDRESS, "--endpoints", ADDRESS)
    talosctl("apply-config", "--insecure", "--nodes", ADDRESS, "--file", "controlplane.yaml")
    lab.settle()
    talosctl("config", "endpoint", ADDRESS)
    talosctl("bootstrap", *at)
    lab.settle()
    talosctl("kubeconfig", str(home / "kubeconfig"), *at)


def adopted(lab: ProxmoxLab, home: Path, *more: str) -> Ran:
    return ran(
        "adopt",
        *("--proxmox", lab.endpoint, "--ca-file", str(lab.ca)),
        *("--kubeconfig", str(home / "kubeconfig"), "--talosconfig", str(home / "talosconfig")),
        *("--out", str(home / "adopted"), "--yes", "-o", "json", *more),
        program=REAL,
        PROXMOX_TOKEN_ID=lab.token_id,
        PROXMOX_TOKEN_SECRET=lab.token_secret,
        HOME=str(home),
    )


def stockman(lab: ProxmoxLab, home: Path, *words: str) -> Ran:
    """A command in the new directory."""
    return ran(
        *("-C", str(home / "adopted"), *words),
        program=REAL,
        PROXMOX_TOKEN_SECRET=lab.token_secret,
        HOME=str(home),
    )


def test_a_cluster_of_other_tools_becomes_files_that_change_next_to_nothing(
    tmp_path: Path, real_tool: RealTool
) -> None:
    scratch, home = tmp_path / "lab", tmp_path / "home"
    scratch.mkdir()
    home.mkdir()
    with empty_lab(scratch) as lab:
        tofu = Tofu(
            program=real_tool("tofu"),
            provider=real_tool("terraform-provider-proxmox"),
            folder=tmp_path / "configuration",
            lab=lab,
            source=Path(__file__).parent / "opentofu_talos",
        )
        tofu.prepare()
        tofu.apply()
        lab.settle()
        made_with_talosctl(lab, real_tool(f"talosctl@{VERSION}"), home)

        seen = adopted(lab, home)
        again = adopted(lab, home)

        assert seen.status == 0, seen.err
        data = json.loads(seen.out)["data"]
        assert (data["nodes"], data["guests"]) == (["cp-1"], ["other"])
        assert [one["what"] for one in data["expected"] if not one["safe"]] == []
        assert again.status == 1
        assert "adopt.exists" in again.err
        assert tofu.no_changes() == ""
        expected = {one["what"] for one in data["expected"]}
        before = stockman(lab, home, "plan", "-o", "json")
        assert {change["what"] for change in json.loads(before.out)["data"]["changes"]} == expected
        applied = stockman(lab, home, "apply", "--yes")
        assert applied.status == 0, applied.err
        assert stockman(lab, home, "plan").status == 0
    checked = ran("-C", str(home / "adopted"), "validate", program=REAL)
    assert checked.status == 0, checked.err
    assert lab.token_secret not in "".join(_texts(home / "adopted")) + seen.out + seen.err


def _texts(place: Path) -> list[str]:
    return [path.read_text() for path in place.rglob("*") if path.is_file()]
