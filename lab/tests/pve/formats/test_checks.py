"""Checks of single values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stockman_lab.pve.formats import checks
from stockman_lab.pve.formats.format_error import FormatError


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (checks.config_id, "gpu-0_a"),
        (checks.bridge_id, "vmbr0.5"),
        (checks.storage_id, "local-zfs"),
        (checks.node_name, "pve-1"),
        (checks.volume_id, "local:iso/a b.iso"),
        (checks.volume_id_or_path, "/dev/sda"),
        (checks.volume_id_or_medium, "cdrom"),
        (checks.unicast_mac, "bc:24:11:AA:bb:0f"),
        (checks.url_encoded, "a%20b"),
        (checks.dns_name, "node-1.example.com"),
        (checks.ipv4, "10.0.0.1"),
        (checks.ipv6, "fd00::1"),
        (checks.ipv4_config, "manual"),
        (checks.ipv6_config, "fd00::1/64"),
        (checks.physical_bits, "64"),
        (checks.mount_path, "/srv/a.b"),
        (checks.device_path, "/dev/dri/card0"),
    ],
)
def test_a_good_value_passes(check: Callable[[str], None], value: str) -> None:
    check(value)


@pytest.mark.parametrize(
    ("check", "value", "complaint"),
    [
        (checks.config_id, "1a", "invalid configuration ID '1a'"),
        (checks.bridge_id, "a/b", "invalid bridge ID 'a/b'"),
        (checks.storage_id, "x", "storage ID 'x' cannot be shorter than 2 characters"),
        (checks.storage_id, "x_", "storage ID 'x_' contains illegal characters"),
        (checks.node_name, "a.b", "value does not look like a valid node name"),
        (checks.volume_id, "nothing", "unable to parse volume ID 'nothing'"),
        (checks.volume_id_or_path, "relative/path", "unable to parse volume ID 'relative/path'"),
        (checks.unicast_mac, "01:00:00:00:00:00",
         "value does not look like a valid unicast MAC address"),
        (checks.url_encoded, "a b", "invalid urlencoded string: a b"),
        (checks.dns_name, "a_b", "value does not look like a valid DNS name"),
        (checks.ipv4, "10.0.0.256", "value does not look like a valid IPv4 address"),
        (checks.ipv6, "fe80::1%eth0", "value does not look like a valid IPv6 address"),
        (checks.ipv4_config, "auto",
         "value does not look like a valid ipv4 network configuration"),
        (checks.ipv6_config, "fd00::1/129",
         "value does not look like a valid ipv6 network configuration"),
        (checks.physical_bits, "7", "value must be an integer between 8 and 64 or 'host'"),
        (checks.mount_path, "/a/../b", "/a/../b contains illegal character sequences"),
        (checks.device_path, "/etc/passwd", "/etc/passwd is not a valid device path"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_with_its_own_sentence(
    check: Callable[[str], None], value: str, complaint: str
) -> None:
    with pytest.raises(FormatError) as refused:
        check(value)

    assert refused.value.message == complaint
