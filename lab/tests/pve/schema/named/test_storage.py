"""Volumes, contents and paths of storages."""

from __future__ import annotations

import pytest

from lab.tests.pve.schema.named.judging import problem


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("pve-volume-id", "local-zfs:vm-100-disk-0"),
        ("pve-volume-id-or-qm-path", "none"),
        ("pve-volume-id-or-qm-path", "/dev/sda"),
        ("pve-storage-content-list", "iso,import,none"),
        ("pve-dir-override-list", "iso=my/isos,backup=a.b"),
        ("pve-storage-path", "/mnt/pasture"),
        ("pve-storage-vgname", "pve-data"),
        ("pve-storage-options", "vers=4.2,soft"),
    ],
)
def test_these_are_fit(form: str, text: str) -> None:
    assert problem(form, text) is None


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("pve-volume-id", "disk", "unable to parse volume ID 'disk'"),
        ("pve-volume-id-or-absolute-path", "none", "unable to parse volume ID 'none'"),
        ("pve-storage-content", "films", "invalid content type 'films'"),
        ("pve-dir-override", "iso=../up", "invalid override 'iso=../up'"),
        ("pve-dir-override", "films=a", "invalid content type 'films'"),
        ("pve-dir-override", f"iso={'a' * 300}", f"invalid override 'iso={'a' * 300}'"),
        ("pve-storage-path", "mnt", "value does not look like a valid absolute path"),
        ("pve-storage-vgname", "-", "lvm name '-' contains illegal characters"),
        ("pve-storage-options", "a b", "invalid options 'a b'"),
    ],
)
def test_these_are_refused(form: str, text: str, said: str) -> None:
    assert problem(form, text) == said


def test_a_hostile_folder_name_takes_no_time() -> None:
    text = "iso=" + "a" * 100_000 + "."

    assert problem("pve-dir-override", text) == f"invalid override '{text}'"
