"""Archives of files."""

from __future__ import annotations

import io
import tarfile

from stockman_lab.talos.files.archive import archived, unpacked
from stockman_lab.talos.files.tree import Tree


def made() -> Tree:
    tree = Tree(modified=1_000_000.0)
    tree.file("/d/plain", "text", 0o600)
    tree.file("/d/short", "value\n", 0o444, size=0)
    tree.file("/d/long", bytes(5000), 0o444, size=0)
    tree.file("/d/page", "1\n", 0o444, size=4096)
    tree.link("/d/link", "plain")
    tree.directory("/d/empty", 0o700)
    return tree


def test_it_can_be_unpacked_with_all_that_files_have() -> None:
    packed = io.BytesIO(b"".join(archived(made(), "/d")))
    with tarfile.open(fileobj=packed, mode="r:gz") as archive:
        members = {getmember.name: getmember for getmember in archive.getmembers()}
    assert set(members) == {"plain", "short", "long", "page", "link", "empty"}
    assert members["plain"].mode == 0o600
    assert members["plain"].mtime == 1_000_000
    assert members["link"].linkname == "plain"
    assert members["empty"].isdir()


def test_files_that_tell_no_size_are_read_up_to_a_limit() -> None:
    found = unpacked(archived(made(), "/d"))
    assert found == {"plain": b"text", "short": b"value\n", "long": b"", "page": b"1\n"}
