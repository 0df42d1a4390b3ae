"""The files of `talos/` are judged by talhelper, and by talosctl in the place of topf."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from stockman.config.language import Dialect
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.rendering.talos_files import Patches, talos_files
from stockman.talos.secrets.bundle import bundle_text
from tests.real.machine.estates import estate as preset
from tests.real.talhelper import genconfig, give_secrets
from tests.real.test_machine_judged import meaning
from tests.real.test_talconfig_judged import LINES, PATCHES, ours
from tests.talos.machine.clusters import TALOS, bundle, desired
from tools.pytest_plugin import RealTool


def written(wanted: Desired, dialect: Dialect, place: Path, patches: Patches) -> list[Path]:
    """The files below `talos/`, with secrets in the clear; their paths in the order of topf."""
    problems = Problems()
    files = {}
    for file in talos_files(wanted, dialect, patches, problems):
        path = place / file.path.removeprefix("talos/")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = file.text.reveal() if isinstance(file.text, Secret) else file.text
        path.write_text(text)
        files[path] = text
    assert not problems
    return sorted(files)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["single", "three-node", "fifteen-node"])
def test_talhelper_makes_the_machines_of_every_preset_from_the_rendered_files(
    real_tool: RealTool, tmp_path: Path, name: str, line: str
) -> None:
    wanted = preset(name, line)

    written(wanted, "classic", tmp_path, {})
    give_secrets(tmp_path)
    talhelper = real_tool("talhelper")
    checked = subprocess.run(
        [talhelper, "validate", "talconfig", "talconfig.yaml", "--env-file", "talenv.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    made = genconfig(talhelper, tmp_path)

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert {node: meaning(text) for node, text in made.items()} == {
        node.name: ours(wanted, node) for node in wanted.nodes
    }


def folders(files: list[Path], place: Path, role: str, node: str) -> list[Path]:
    """The patches of one node as topf reads them: for all, for the role, for the node."""
    names = ("all", role, f"node/{node}")
    return [file for name in names for file in files if file.parent == place / name]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["single", "fifteen-node", "everything"])
def test_what_topf_is_told_makes_the_same_machines(
    real_tool: RealTool, tmp_path: Path, name: str, line: str
) -> None:
    """topf makes a machine as talosctl does: the installer's image first, then each document."""
    wanted = desired(line, "node_vlan_tag: '5'\n") if name == "everything" else preset(name, line)
    patches = {node.name: PATCHES for node in wanted.nodes} if name == "everything" else {}
    own = PATCHES if name == "everything" else ()
    secrets = tmp_path / "bundle.yaml"
    secrets.write_text(bundle_text(bundle()).reveal())
    place = tmp_path / "talos"

    files = written(wanted, "toml", place, patches)
    told = yaml.safe_load((place / "topf.yaml").read_text())
    talosctl = real_tool(f"talosctl@{TALOS[line]}")
    seen = {node.role: node for node in wanted.nodes}
    for node in seen.values():
        (entry,) = [one for one in told["nodes"] if one["host"] == node.name]
        kind = "controlplane" if node.is_controller else "worker"
        image = f"{told['factory']}/{told['platform']}-installer/{entry['schematicId']}"
        command: list[str | Path] = [
            talosctl,
            *("gen", "config", told["clusterName"], told["clusterEndpoint"]),
            *("--with-secrets", secrets, "--kubernetes-version", told["kubernetesVersion"]),
            *("--talos-version", told["talosVersion"], "--install-disk", ""),
            *("--install-image", f"{image}:{told['talosVersion']}"),
            *("--with-docs=false", "--with-examples=false"),
            *("--output-types", kind, "--output", "-"),
        ]
        for path in folders(files, place, entry["role"], entry["host"]):
            flag = f"--config-patch-{'control-plane' if node.is_controller else 'worker'}"
            command += [flag, f"@{path}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

        assert done.returncode == 0, done.stderr
        assert meaning(done.stdout) == ours(wanted, node, own)
