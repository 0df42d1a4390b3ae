"""Names of guests, nodes, storages and tags."""

from __future__ import annotations

import pytest

from lab.tests.pve.schema.named.judging import problem


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("pve-vmid", "100"),
        ("pve-vmid", "999999999"),
        ("pve-vmid-list", "100,101;102 103"),
        ("pve-vmid-list", ""),
        ("pve-node", "pve-1"),
        ("pve-configid", "snap_1-a"),
        ("pve-storage-id", "local-zfs"),
        ("pve-bridge-id", "vmbr0.5"),
        ("storage-pair-list", "a1:b1,c1:d1,e1"),
        ("storage-pair", "1"),
        ("storage-pair", "0"),
        ("pve-tag-list", "talos;web_1 a+b.c"),
        ("pve-startup-order", "order=1,up=30,down=60"),
        ("pve-startup-order", "3"),
        ("disk-size", "1.5T"),
        ("disk-size", "32GiB"),
        ("pve-task-status-type-list", "ok,Error"),
        ("urlencoded", "ssh-ed25519%20AAAA"),
        ("string-list", "/dev/sda /dev/sdb"),
    ],
)
def test_these_names_are_fit(form: str, text: str) -> None:
    assert problem(form, text) is None


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("pve-vmid", "99", "value does not look like a valid VM ID"),
        ("pve-vmid-list", "100,x", "value does not look like a valid VM ID"),
        ("pve-node", "pve.1", "value does not look like a valid node name"),
        ("pve-configid", "1a", "invalid configuration ID '1a'"),
        ("pve-storage-id", "a", "storage ID 'a' cannot be shorter than 2 characters"),
        ("pve-storage-id", "a b", "storage ID 'a b' contains illegal characters"),
        ("pve-bridge-id", "a/b", "invalid bridge ID 'a/b'"),
        (
            "storage-pair",
            "a1:b? c",
            "entry 'a1:b?' contains invalid ID - storage ID 'b?' contains illegal characters\n\n",
        ),
        ("storage-pair", "a1:b1 a1:c1", "duplicate mapping for source 'a1'\n"),
        ("storage-pair", "a1 b1", "default target ID can only be provided once\n"),
        ("storage-pair", "1 b1", "identity mapping cannot be combined with other mappings\n"),
        ("pve-tag-list", "a,b?", "invalid characters in tag"),
        ("pve-startup-order", "soon", "unable to parse startup options"),
        ("disk-size", "32X", "value does not look like a valid disk size: 32X"),
        ("pve-task-status-type", "good", "invalid status 'good'"),
        ("urlencoded", "a b", "invalid urlencoded string: a b"),
    ],
)
def test_these_names_are_refused(form: str, text: str, said: str) -> None:
    assert problem(form, text) == said


def test_version_8_speaks_differently_of_short_names_and_long_units() -> None:
    assert problem("pve-storage-id", "a", "8.4") == "storage ID 'a' contains illegal characters"
    assert problem("disk-size", "32GiB", "8.4") == (
        "value does not look like a valid disk size: 32GiB"
    )
