"""Trees of files."""

from __future__ import annotations

import pytest
from stockman_lab.talos.files.tree import FileError, Kind, Tree

GO_DIRECTORY, GO_LINK, GO_DEVICE = 1 << 31, 1 << 27, 1 << 26


@pytest.fixture
def tree() -> Tree:
    made = Tree(modified=1000.0)
    made.file("/etc/hostname", "node\n")
    made.link("/etc/alias", "hostname")
    made.link("/folder", "/etc")
    made.link("/up", "etc/../etc/alias")
    made.link("/round", "round")
    made.device("/dev/null")
    return made


def test_directories_above_come_by_themselves(tree: Tree) -> None:
    assert tree.children("/") == ["dev", "etc", "folder", "round", "up"]
    assert tree.nodes["/etc"].kind is Kind.DIRECTORY


@pytest.mark.parametrize(
    "path", ["/etc/hostname", "/etc/alias", "/folder/alias", "/up", "etc/alias"]
)
def test_links_lead_to_files(tree: Tree, path: str) -> None:
    real, node = tree.followed(path)
    assert real == "/etc/hostname"
    assert node.content() == b"node\n"


def test_a_link_at_the_end_can_be_looked_at_itself(tree: Tree) -> None:
    path, node = tree.looked_at("/folder/alias")
    assert path == "/etc/alias"
    assert node.target == "hostname"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/nope", "stat /nope: no such file or directory"),
        ("/etc/hostname/x", "stat /etc/hostname/x: not a directory"),
        ("/round", "stat /round: too many levels of symbolic links"),
    ],
)
def test_what_leads_nowhere_is_told_as_go_does(tree: Tree, path: str, message: str) -> None:
    with pytest.raises(FileError) as caught:
        tree.followed(path)
    assert str(caught.value) == message
    assert caught.value.is_missing is message.endswith("no such file or directory")


def test_modes_are_those_of_go(tree: Tree) -> None:
    assert tree.nodes["/etc"].mode == GO_DIRECTORY | 0o755
    assert tree.nodes["/folder"].mode == GO_LINK | 0o777
    assert tree.nodes["/dev/null"].mode == GO_DEVICE | 0o660
    assert tree.nodes["/etc/hostname"].mode == 0o644


def test_a_size_that_is_not_told_is_that_of_the_content() -> None:
    tree = Tree(modified=0.0)
    tree.file("/late", lambda: b"four", 0o600)
    tree.file("/told", b"four", size=0)
    assert tree.nodes["/late"].told_size == 4
    assert tree.nodes["/told"].told_size == 0
