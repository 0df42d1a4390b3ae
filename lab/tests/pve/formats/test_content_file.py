"""Files that users bring."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.content_file import backup_file, brought_file, normal_file_name
from stockman_lab.pve.formats.volume_name import parse_volume_name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("talos.iso", "talos.iso"),
        ("C:\\images\\talos.iso", "talos.iso"),
        ("../../etc/passwd.iso", "passwd.iso"),
        ("my image+1.iso", "my_image_1.iso"),
        ("zürich.iso", "z_rich.iso"),
    ],
)
def test_a_name_loses_its_folders_and_everything_unusual(name: str, kept: str) -> None:
    assert normal_file_name(name) == kept
    assert brought_file("iso", name) == kept


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("iso", "a.ISO"),
        ("iso", "a.img"),
        ("vztmpl", "a.tar.zst"),
        ("vztmpl", "a.tar.xz"),
        ("vztmpl", "a.tar"),
        ("import", "a.qcow2"),
        ("import", "a.raw"),
        ("import", "a.ova"),
        ("import", "a.vmdk"),
    ],
)
def test_each_content_has_its_extensions(content: str, name: str) -> None:
    assert brought_file(content, name) == name
    assert parse_volume_name("dir", f"{content}/{name}").content == content


@pytest.mark.parametrize(
    ("content", "name", "errors"),
    [
        ("iso", "a.qcow2", {"filename": "wrong file extension"}),
        ("iso", ".iso", {"filename": "wrong file extension"}),
        ("vztmpl", "a.tar.lzo", {"filename": "wrong file extension"}),
        ("vztmpl", "a.zip", {"filename": "wrong file extension"}),
        ("import", "a.iso", {"filename": "invalid filename or wrong extension"}),
        ("import", "a.ovf", {"filename": "invalid filename or wrong extension"}),
        ("snippets", "a.yaml", {"content": "upload content type 'snippets' not allowed"}),
    ],
)
def test_other_extensions_and_contents_are_refused(
    content: str, name: str, errors: dict[str, str]
) -> None:
    with pytest.raises(ApiError) as refused:
        brought_file(content, name)

    assert (refused.value.status, refused.value.errors) == (400, errors)


def test_a_backup_says_what_it_is_of_and_when_it_was_made() -> None:
    file = backup_file("qemu", 100, datetime(2026, 1, 31, 2, 0, 0, tzinfo=UTC), "vma.zst")

    assert file == "vzdump-qemu-100-2026_01_31-02_00_00.vma.zst"
    assert parse_volume_name("dir", f"backup/{file}").owner == 100
