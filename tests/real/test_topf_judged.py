"""What is taken over from topf is judged by talosctl, whose library topf makes machines with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stockman.talos.secrets.bundle import bundle_text
from tests.real.test_imports_judged import desired, different, documents, ours
from tests.talos.imports.adopting import from_topf
from tests.talos.imports.directories import SCHEMATIC
from tests.talos.imports.topf_directories import ADDRESSES, FILES, MACS, meadow
from tests.talos.machine.clusters import KUBERNETES, TALOS, bundle
from tools.pytest_plugin import RealTool

ENCRYPTION = FILES["all/60-encryption.yaml.tpl"].partition("\n")[2].rpartition("{{")[0]
FILLED = {
    "cp-1": {
        "all/00-install.yaml.tpl": "machine: {install: {disk: /dev/sda}}\n",
        "all/60-encryption.yaml.tpl": "",
        "all/61-kernel-modules.yaml.tpl": "",
    },
    "work-1": {
        "all/00-install.yaml.tpl": "machine: {install: {diskSelector: {serial: SERIAL-1}}}\n",
        "all/60-encryption.yaml.tpl": ENCRYPTION,
        "all/61-kernel-modules.yaml.tpl": (
            "machine: {kernel: {modules: [{name: nbd}, {name: zfs}]}}\n"
        ),
    },
}
"""Templates as somebody fills them in by hand."""


def by_hand(path: str, node: str) -> str:
    if path in FILLED[node]:
        return FILLED[node][path]
    text = FILES[path]
    for name, value in (
        ("{{ .Node.Host }}", node),
        ("{{ .Node.IP }}", ADDRESSES[node]),
        ("{{ .Node.Data.macAddr }}", MACS[node]),
        ("{{ .Node.Data.mtu }}", "9000"),
        ('{{ .Data.region | default "nowhere" | quote }}', "meadow-1"),
    ):
        text = text.replace(name, value)
    before, start, after = text.partition('{{- if eq .Node.Role "control-plane" }}\n')
    return before + (after.replace("{{- end }}\n", "") if node == "cp-1" and start else "")


@pytest.mark.parametrize("line", ["1.12", "1.13"])
@pytest.mark.parametrize("node", ["cp-1", "work-1"])
def test_machines_differ_from_those_of_topf_in_what_the_report_says(
    real_tool: RealTool, tmp_path: Path, node: str, line: str
) -> None:
    (tmp_path / "secrets.yaml").write_text(bundle_text(bundle()).reveal())
    role = "controlplane" if node == "cp-1" else "worker"
    flag = "control-plane" if node == "cp-1" else "worker"
    folders = ("all/", "control-plane/" if node == "cp-1" else "worker/", f"node/{node}/")
    command: list[str | Path] = [
        real_tool(f"talosctl@{TALOS[line]}"),
        *("gen", "config", "meadow", "https://127.66.0.10:6443"),
        *("--with-secrets", tmp_path / "secrets.yaml", "--kubernetes-version", KUBERNETES[line]),
        *("--install-disk", "", "--with-docs=false", "--with-examples=false"),
        *("--install-image", f"factory.talos.dev/metal-installer/{SCHEMATIC}:v{TALOS[line]}"),
        *("--output-types", role, "--output", "-"),
    ]
    texts = [by_hand(path, node) for folder in folders for path in FILES if path.startswith(folder)]
    for number, text in enumerate(texts):
        if text.strip():
            path = tmp_path / f"{number}.yaml"
            path.write_text(text)
            command += [f"--config-patch-{flag}", f"@{path}"]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    result = from_topf(meadow(line))

    assert done.returncode == 0, done.stderr
    wanted = desired(result)
    (machine,) = [one for one in wanted.nodes if one.name == node]
    assert set(different(documents(done.stdout), ours(wanted, machine))) == {
        differ.what for differ in result.differs if node in differ.nodes
    }
