"""What git leaves alone."""

import subprocess
from pathlib import Path

import pytest

from stockman.app.secrets.generation import SECRET_NAMES
from stockman.app.workspace.secret_names import missing_lines

SECRETS = sorted(
    {name for names in SECRET_NAMES.values() for name in (*names, names.public_key)}
    | {"cloudflare-tunnel.json", "kubeconfig", "talosconfig", "talos/talosconfig"}
    | {"talos/clusterconfig/k8s-node-1.yaml", ".stockman/runs/1/journal"}
    | {".age.key.0011aabb.stockman-new"}
)
TRACKED = [
    "cluster.yaml",
    "nodes.yaml",
    "cluster.toml",
    ".sops.yaml",
    ".schemas/cluster.schema.json",
    ".stockman/rendered.lock",
    "talos/talsecret.sops.yaml",
    "kubernetes/apps/age.key",
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mktemp = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", mktemp], check=True)
    (mktemp / ".gitignore").write_bytes(missing_lines(b""))
    return mktemp


def ignored(repository: Path, name: str) -> bool:
    command = ["git", "-C", str(repository), "check-ignore", "-q", name]
    return subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("name", SECRETS)
def test_git_ignores_every_secret(repository: Path, name: str) -> None:
    assert ignored(repository, name)


@pytest.mark.parametrize("name", TRACKED)
def test_git_takes_everything_else(repository: Path, name: str) -> None:
    assert not ignored(repository, name)


def test_what_is_said_already_is_not_said_again() -> None:
    assert missing_lines(missing_lines(b"")) == b""


def test_a_file_of_the_user_gets_only_what_it_lacks() -> None:
    mine = b"*.tmp\nage.key\n  /kubeconfig  \n"

    added = missing_lines(mine)

    assert b"age.key\n" not in added.splitlines(keepends=True)
    assert b"/kubeconfig\n" not in added.splitlines(keepends=True)
    assert b"/github-deploy.key\n" in added.splitlines(keepends=True)
    assert missing_lines(mine + added) == b""


def test_a_last_line_without_an_end_stays_a_line_of_its_own() -> None:
    assert missing_lines(b"*.tmp").startswith(b"\n\n# ")
    assert missing_lines(b"*.tmp\n").startswith(b"\n# ")


def test_the_line_ends_of_the_user_are_kept() -> None:
    added = missing_lines(b"*.tmp\r\n")

    assert added.count(b"\r\n") == added.count(b"\n")
