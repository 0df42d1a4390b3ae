"""Archives of systems: what is in them is what their bytes say."""

from __future__ import annotations

import io
import tarfile

import pytest
from stockman_lab.images.compression import packed
from stockman_lab.images.system_archive import NoArchive, archived_system, system_archive


def archive_of(**files: str) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name.replace("__", "/").replace("_", "-"))
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return raw.getvalue()


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz", "zst"])
def test_a_system_is_told_by_its_release(compression: str) -> None:
    content = system_archive("debian", "13", compression)

    found = archived_system(content, compression)

    assert (found.kind, found.release["VERSION_ID"]) == ("debian", "13")
    assert system_archive("debian", "13", compression) == content


@pytest.mark.parametrize(
    ("identity", "kind"),
    [("rocky", "centos"), ("arch", "archlinux"), ("opensuse-leap", "opensuse"), ("meadowos", "")],
)
def test_relatives_are_known(identity: str, kind: str) -> None:
    assert archived_system(system_archive(identity, "1"), "gz").kind == kind


def test_old_systems_are_told_by_other_files() -> None:
    assert archived_system(archive_of(etc__alpine_release="3.2"), "").kind == "alpine"


def test_what_tells_nothing_is_not_managed() -> None:
    assert archived_system(archive_of(readme="hello"), "").kind == "unmanaged"


@pytest.mark.parametrize(
    ("content", "compression"),
    [
        (b"", ""),
        (b"hello", "gz"),
        (b"hello", "xz"),
        (b"hello", "zst"),
        (packed(b"hello", "gz"), "gz"),
        (system_archive("debian", "13")[:40], "gz"),
    ],
)
def test_what_is_no_archive_is_said_to_be_none(content: bytes, compression: str) -> None:
    with pytest.raises(NoArchive):
        archived_system(content, compression)
