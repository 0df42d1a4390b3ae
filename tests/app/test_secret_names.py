"""Which files are secret, by their names."""

from pathlib import Path

import pytest

from stockman.app.completion import secret_file_names
from stockman.app.workspace.secret_names import (
    dialect_of,
    is_secret_name,
    relative_name,
    secret_names,
)
from stockman.model.errors import Refused


def put(directory: Path, *names: str) -> None:
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x: 1\n")


def test_files_are_found_by_the_mark_in_their_names(tmp_path: Path) -> None:
    put(
        tmp_path,
        ".sops.yaml",
        "kubernetes/a/secret.sops.yaml",
        "talos/talsecret.sops.yaml",
        "key.sops.bin",
        "cluster.yaml",
        ".git/x.sops.yaml",
        ".stockman/x.sops.yaml",
        "plain.yaml",
    )
    (tmp_path / "nodes.yaml").write_text("nodes: []\nsops:\n  age: []\n")

    texts = (
        "key.sops.bin",
        "kubernetes/a/secret.sops.yaml",
        "nodes.yaml",
        "talos/talsecret.sops.yaml",
    )
    assert secret_names(tmp_path) == secret_file_names(tmp_path) == texts


def test_links_to_directories_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "out/x.sops.yaml", "in/y.sops.yaml")
    (tmp_path / "in" / "out").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "round").symlink_to(tmp_path / "in")

    assert secret_names(tmp_path / "in") == ("y.sops.yaml",)


def test_workspaces_and_repositories_inside_are_left_to_themselves(tmp_path: Path) -> None:
    put(
        tmp_path,
        "x.sops.yaml",
        "other/.sops.yaml",
        "other/cluster.yaml",
        "other/x.sops.yaml",
        "module/.git",
        "module/deep/x.sops.yaml",
        "ruled/.sops.yaml",
        "ruled/x.sops.yaml",
    )

    assert secret_names(tmp_path) == ("ruled/x.sops.yaml", "x.sops.yaml")


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("a/secret.sops.yaml", True),
        ("secret.sops.json", True),
        (".sops.yaml", False),
        ("a/.sops.yaml", False),
        ("sops.yaml", False),
        ("a.sops.d/plain.yaml", False),
    ],
)
def test_the_mark_stands_in_the_last_part(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@pytest.mark.parametrize("text", ["a/b.sops.yaml", "./a/b.sops.yaml", "a/x/../b.sops.yaml"])
def test_names_are_told_relative_to_the_directory(tmp_path: Path, text: str) -> None:
    assert relative_name(tmp_path, text) == "a/b.sops.yaml"
    assert relative_name(tmp_path, str(tmp_path / text)) == "a/b.sops.yaml"


@pytest.mark.parametrize("text", ["..", "../x", "/etc/passwd", ".", ""])
def test_names_outside_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Refused, match=r"secret\.outside"):
        relative_name(tmp_path, text)


def test_the_dialect_is_told_by_the_files(tmp_path: Path) -> None:
    assert dialect_of(tmp_path) == "classic"
    put(tmp_path, "cluster.toml")
    assert dialect_of(tmp_path) == "toml"
