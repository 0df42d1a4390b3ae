"""Secrets of machine configurations turn up nowhere unless they are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.machine_workspace import sealed, workspace
from tests.cli.inside import ran_inside
from tests.cli.running import Ran

CANARY = "canary-77c1d0e4"
TALOS = f"""\
talos:
  extensions: [siderolabs/qemu-guest-agent]
  registries:
    docker.io: {{endpoints: ['https://127.66.0.5'], username: u, password: '${{MIRROR}}'}}
  patches:
    all:
      - "@./patches/a.sops.yaml"
      - apiVersion: v1alpha1
        kind: RegistryAuthConfig
        name: ghcr.io
        username: u
        password: {CANARY}-key
      - |
        machine:
          env: {{TOKEN_OF_MIRROR: {CANARY}-mirror}}
"""
COMMANDS = [
    ("config", "machine", "cp-1"),
    ("config", "machine", "cp-1", "--origin"),
    ("config", "machine", "cp-1", "-o", "json"),
    ("config", "machine", "--all", "--origin", "-o", "json"),
    ("config", "machine", "cp-1", "--diff", "other.yaml"),
    ("config", "machine", "cp-1", "--diff", "other.yaml", "-o", "json"),
    ("config", "machine", "--all", "--output-dir", "out"),
    ("config", "machine", "cp-2"),
    ("validate",),
]
BROKEN = {
    "the type": f"machine: {{token: [{CANARY}]}}\n",
    "the field": f"machine: {{registries: {{config: {{a: {{auth: {{password2: {CANARY}}}}}}}}}}}\n",
    "base64": f"cluster: {{acceptedCAs: [], etcd: {{ca: {{crt: '', key: '{CANARY}'}}}}}}\n",
    "the passphrase": "machine: {systemDiskEncryption: {state: {keys: [{static: {passphrase:"
    f" [{CANARY}]}}}}]}}}}}}\n",
    "YAML": f"machine:\n  token: '{CANARY}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    workspace(tmp_path, TALOS)
    sealed(tmp_path, "patches/a.sops.yaml", f"machine:\n  sysctls:\n    a: {CANARY}-file\n")
    (tmp_path / "other.yaml").write_text(
        f"version: v1alpha1\nmachine: {{type: controlplane, token: {CANARY}-other}}\n"
    )
    return tmp_path


def run(project: Path, *command: str) -> Ran:
    environment = {"HOME": str(project), "MIRROR": f"{CANARY}-mirror"}
    return ran_inside("-C", str(project), *command, **environment)


@pytest.mark.parametrize("more", [(), ("--debug", "-vv")])
def test_no_form_of_a_configuration_shows_a_secret(project: Path, more: tuple[str, ...]) -> None:
    done = {" ".join(command): run(project, *command, *more) for command in COMMANDS}

    assert [name for name, one in done.items() if CANARY in one.out + one.err] == []
    assert done["config machine cp-1"].status == 0
    written = [path for path in (project / "out").iterdir() if CANARY in path.read_text()]
    assert written == []


def test_secrets_that_are_asked_for_are_shown(project: Path) -> None:
    shown = run(project, "config", "machine", "cp-1", "--show-secrets").out

    assert [end for end in ("key", "mirror", "file") if f"{CANARY}-{end}" not in shown] == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_patch_that_does_not_apply_keeps_its_secret(project: Path, name: str) -> None:
    sealed_as = project / "patches" / "a.sops.yaml"
    (project / "cluster.yaml").write_text(
        (project / "cluster.yaml").read_text().replace("a.sops.yaml", "a.yaml")
    )
    sealed_as.with_name("a.yaml").write_text(BROKEN[name])

    done = [run(project, *command) for command in (("validate",), ("config", "machine", "cp-1"))]

    assert [one.status for one in done] == [1, 1]
    assert [one for one in done if CANARY in one.out + one.err] == []
