"""Options of machines and containers."""

from __future__ import annotations

import pytest

from lab.tests.pve.schema.named.judging import problem


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("pve-qm-bootdisk", "scsi0"),
        ("pve-qm-bootdev-list", "scsi30;net31;usb13;hostpci15"),
        ("pve-hotplug-features", "network,disk,usb,cloudinit"),
        ("pve-hotplug-features", "0"),
        ("pve-cpuset", "0,5, 8-11"),
        ("pve-phys-bits", "host"),
        ("pve-phys-bits", "64"),
        ("pve-lxc-mp-string", "/srv/wool"),
        ("pve-lxc-dev-string", "/dev/ttyUSB0"),
        ("pve-ct-timezone", "Europe/Vienna"),
        ("pve-ct-timezone", "host"),
    ],
)
def test_these_are_fit(form: str, text: str) -> None:
    assert problem(form, text) is None


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("pve-qm-bootdisk", "scsi31", "invalid boot disk 'scsi31'"),
        ("pve-qm-bootdev", "efidisk0", "invalid boot device 'efidisk0'"),
        ("pve-hotplug-features", "disk,gpu", "invalid hotplug feature 'gpu'"),
        ("pve-cpuset", "5-3", "unable to parse cpuset option"),
        ("pve-cpuset", "all", "unable to parse cpuset option"),
        ("pve-phys-bits", "65", "value must be an integer between 8 and 64 or 'host'"),
        ("pve-lxc-mp-string", "/a/../b", "/a/../b contains illegal character sequences"),
        ("pve-lxc-dev-string", "/etc/passwd", "/etc/passwd is not a valid device path"),
        ("pve-lxc-dev-string", "/dev/../x", "/dev/../x is not a valid device path"),
        ("pve-ct-timezone", "moon", "invalid time zone 'moon'"),
    ],
)
def test_these_are_refused(form: str, text: str, said: str) -> None:
    assert problem(form, text) == said
