"""Machine configurations are judged by talosctl of each minor.

It accepts them in strict mode, and what `talosctl gen config` makes from the same secrets with
patches written by hand is the same machine.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from stockman.model.desired import Desired, Node
from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.secrets.bundle import bundle_text
from tests.real.machine.by_hand import everything_by_hand, preset_by_hand
from tests.real.machine.estates import ESTATES, estate, machines
from tests.talos.machine.clusters import KUBERNETES, TALOS, bundle
from tests.talos.machine.everything import files
from tools.pytest_plugin import RealTool

LINES = list(TALOS)

EXCEPTIONS: dict[str, str] = {
    "order of certSANs": "a set of names, and gen config repeats the host of the endpoint in it",
    "empty maps and lists": "`{}` and `[]` say nothing, and talosctl writes them where it likes",
}
"""All differences that there may be, and why they are none for the machine."""


Done = subprocess.CompletedProcess[str]


def done(*command: str | Path) -> Done:
    """A program that succeeded."""
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found


def written(desired: Desired, node: Node, place: Path) -> Path:
    """The file of one node's configuration."""
    path = place / f"{node.name}.yaml"
    documents = machine_documents(desired, node, bundle(), files())
    path.write_text(configuration_text(documents).reveal())
    return path


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ESTATES)
def test_talosctl_accepts_every_machine_in_strict_mode(
    real_tool: RealTool, tmp_path: Path, name: str, line: str
) -> None:
    talosctl = real_tool(f"talosctl@{TALOS[line]}")
    wanted = estate(name, line)

    for node in machines(wanted):
        path = written(wanted, node, tmp_path)
        for mode in ("metal", "cloud"):
            verdict = done(talosctl, "validate", "--config", path, "--mode", mode, "--strict")

            assert verdict.stdout + verdict.stderr == f"{path} is valid for {mode} mode\n"


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ESTATES)
def test_gen_config_with_the_same_wishes_makes_the_same_machine(
    real_tool: RealTool, tmp_path: Path, name: str, line: str
) -> None:
    talosctl = real_tool(f"talosctl@{TALOS[line]}")
    wanted = estate(name, line)

    for node in machines(wanted):
        ours = written(wanted, node, tmp_path)
        loaded = done(talosctl, "machineconfig", "patch", ours, "--patch", "machine: {}")
        made = done(*gen_config(talosctl, wanted, node, tmp_path))

        assert meaning(loaded.stdout) == meaning(made.stdout)


def gen_config(talosctl: Path, desired: Desired, node: Node, place: Path) -> list[str | Path]:
    """The command that makes the same machine with talosctl alone."""
    assert desired.cluster is not None
    kubernetes = desired.cluster.kubernetes
    line = desired.cluster.talos.contract.minor_text
    role = "controlplane" if node.is_controller else "worker"
    secrets = place / "secrets.yaml"
    secrets.write_text(bundle_text(bundle()).reveal())
    by_hand = (
        everything_by_hand(line, role)
        if node.bond is not None
        else preset_by_hand(line, desired, node)
    )
    patches: list[str | Path] = []
    for number, patch in enumerate(by_hand):
        path = place / f"{node.name}-patch-{number}.yaml"
        path.write_text(patch)
        patches += ["--config-patch", f"@{path}"]
    sans = [str(kubernetes.api_addr), *kubernetes.api_tls_sans]
    return [
        talosctl,
        *("gen", "config", desired.cluster.name, f"https://{kubernetes.api_addr}:6443"),
        *("--with-secrets", secrets, "--kubernetes-version", KUBERNETES[line]),
        *("--install-disk", "/dev/sda", "--install-image", installer(desired, node)),
        *("--additional-sans", ",".join(sans)),
        *(["--with-kubespan"] if desired.cluster.talos.kubespan else []),
        *("--with-docs=false", "--with-examples=false", "--output-types", role, "--output", "-"),
        *patches,
    ]


def installer(desired: Desired, node: Node) -> str:
    """The installer of a node, as `config schematic` tells it."""
    for document in machine_documents(desired, node, bundle(), files()):
        machine: Any = document.get("machine", {})
        image: Any = document.get("installer") or machine.get("install")
        if image:
            return str(image["image"])
    raise AssertionError(f"{node.name} has no installer")


def meaning(text: str) -> dict[tuple[str, str], Any]:
    """Documents by kind and name, without what `EXCEPTIONS` lists."""
    found = {}
    for document in yaml.load_all(text, Loader=yaml.BaseLoader):
        names = (str(document.get("kind", "v1alpha1")), str(document.get("name", "")))
        found[names] = filled(document)
    return found


def filled(value: Any) -> Any:
    """A value without its empty parts; lists of names without order."""
    if isinstance(value, dict):
        return {
            key: sorted(set(item)) if key in ("certSANs", "certExtraSANs") else filled(item)
            for key, item in value.items()
            if item not in ({}, [])
        }
    return [filled(item) for item in value] if isinstance(value, list) else value
