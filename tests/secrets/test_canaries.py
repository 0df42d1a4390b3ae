"""Secrets planted everywhere turn up nowhere but in the files they were planted in."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.cli.inside import ran_inside
from tests.cli.running import REAL, Ran, ran

KEYS = {
    "cloudflare_token": "cloudflare_token: {}",
    "proxmox_token_secret": "proxmox_token_secret: {}",
    "proxmox_ccm_token_secret": "proxmox_ccm_token_secret: {}",
    "backup_s3_access_key": "backup_s3_access_key: {}",
    "backup_s3_secret_key": "backup_s3_secret_key: {}",
    "registry password": "talos: {{extensions: [a/b], registries: {{docker.io: {{endpoints:"
    " ['https://127.0.0.1'], username: u, password: {}}}}}}}",
    "lock": "lock: {{home: 's3://locks/x', access_key: {0}a, secret_key: {0}}}",
    "component": "components: {{karpenter: {{token_id: a@pve!b, token_secret: {}}}}}",
}
CLUSTER = """\
node_cidr: 127.66.0.0/24
cluster_api_addr: 127.66.0.10
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
cloudflare_gateway_addr: 127.66.0.13
cloudflare_domain: example.com
repository_name: owner/meadow
talos_version: 1.13.9
proxmox_endpoint: https://127.66.0.4:8006
proxmox_token_id: stockman@pve!stockman
backup_s3_bucket: etcd
"""
NODES = """\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    mac_addr: bc:24:11:00:00:21
    vm: {{vmid: 1021, host: pve-a}}
guests:
  - name: nas
    vmid: 300
    host: pve-a
    vm: {{nics: [{{bridge: vmbr0}}], cloud_init: {{password: {0}-guest}}}}
hosts:
  pve-a:
    ssh: {{key: {0}-ssh}}
    storages:
      - {{name: pbs, type: pbs, server: 127.0.0.1, datastore: d, password: {0}-pbs}}
"""
CANARY = "canary-4e1c7a90"
COMMANDS = [
    ("validate",),
    ("validate", "-o", "json"),
    ("validate", "-o", "yaml", "--strict"),
    ("config", "show"),
    ("config", "show", "--origin"),
    ("config", "show", "-o", "json"),
    ("config", "show", "--origin", "-o", "yaml"),
    ("config", "diff", ".", "."),
    ("config", "diff", ".", "../other", "-o", "json"),
    ("versions", "-o", "json"),
    ("doctor", "--offline"),
    ("doctor", "--offline", "-o", "json"),
    ("explain", "cloudflare_token"),
    ("schema", "cluster.yaml"),
    ("convert", "--to", "toml", "--out", "../converted", "-o", "json"),
    ("convert", "--to", "toml", "--out", "../converted-again"),
    ("init", "--preset", "single", "--dry-run"),
    ("no-such-command", CANARY[:6]),
]


def write(directory: Path, canary: str, spoil: str = "") -> None:
    directory.mkdir()
    lines = [template.format(canary) for template in KEYS.values()]
    (directory / "cluster.yaml").write_text(CLUSTER + "\n".join(lines) + "\n" + spoil)
    (directory / "nodes.yaml").write_text(NODES.format(canary))


FEW = [command for command in COMMANDS if command[0] in ("validate", "convert", "doctor")]


def run(
    directory: Path,
    commands: list[tuple[str, ...]],
    *more: str,
    by: Callable[..., Ran] = ran_inside,
) -> dict[str, Ran]:
    return {
        " ".join(command): by("-C", str(directory), *command, *more, HOME=str(directory.parent))
        for command in commands
    }


def hits(runs: dict[str, Ran]) -> list[str]:
    return [name for name, done in runs.items() if CANARY in done.out + done.err]


def files_with_canary(root: Path) -> set[str]:
    return {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and CANARY.encode() in path.read_bytes()
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path / "one", CANARY)
    write(tmp_path / "other", "${SOMETHING}")
    return tmp_path / "one"


def test_no_command_shows_a_secret_or_leaves_it_in_another_file(project: Path) -> None:
    quiet = run(project, COMMANDS)
    loud = run(project, COMMANDS, "--debug", "-vv", by=partial(ran, program=REAL))

    assert hits(quiet) == hits(loud) == []
    assert "secret.exposed" in quiet["validate"].err
    files = files_with_canary(project.parent)
    assert {Path(name).name for name in files} <= {"cluster.yaml", "nodes.yaml", "cluster.toml"}
    assert {"one/cluster.yaml", "one/nodes.yaml"} <= files


def test_a_tracked_file_changes_nothing_of_that(project: Path) -> None:
    for command in (["init"], ["add", "."]):
        subprocess.run(["git", *command], cwd=project, check=True, capture_output=True)

    assert hits(run(project, FEW, "--debug")) == []


@pytest.mark.parametrize(
    "spoil",
    [
        f"proxmox_token_secrt: {CANARY}\n",
        f"cloudflare_tokn: [{CANARY}\n",
        f'my_password: "{CANARY}\n',
        f"lock_secret: {{a: {CANARY}}}\n",
        f"cloudflare_token: {CANARY}\n",
    ],
)
def test_mistakes_beside_secrets_do_not_show_them(tmp_path: Path, spoil: str) -> None:
    write(tmp_path / "one", CANARY, spoil)
    write(tmp_path / "other", "${SOMETHING}")

    assert hits(run(tmp_path / "one", FEW, "--debug")) == []


def test_resolved_references_are_not_shown_either(tmp_path: Path) -> None:
    write(tmp_path / "one", "'file:token.txt'")
    (tmp_path / "one" / "token.txt").write_text(CANARY)
    text = (tmp_path / "one" / "cluster.yaml").read_text()
    (tmp_path / "one" / "cluster.yaml").write_text(text.replace("'file:token.txt'", "${CANARY}", 1))
    write(tmp_path / "other", "${SOMETHING}")

    runs = {
        " ".join(command): ran_inside("-C", str(tmp_path / "one"), *command, CANARY=CANARY)
        for command in FEW
    }

    assert hits(runs) == []


def test_init_shows_none_of_the_keys_it_makes(tmp_path: Path) -> None:
    target = tmp_path / "fresh"
    target.mkdir()

    done = ran_inside("-C", str(target), "init", "--preset", "single", "-vv", "--debug")

    assert done.status == 0
    shown = done.out + done.err
    for name in ("age.key", "github-deploy.key", "github-push-token.txt"):
        lines = [
            line
            for line in (target / name).read_text().splitlines()
            if not line.startswith(("#", "-----"))
        ]
        assert lines
        assert not [line for line in lines if line in shown]
