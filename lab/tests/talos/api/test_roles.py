"""Roles open what they open in each version."""

from __future__ import annotations

import pytest
from stockman_lab.talos.api.roles import allowed, only_reads

from stockman.talos.wire.schema import UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS, packages

MACHINE = "/machine.MachineService"


@pytest.mark.parametrize(
    ("path", "minor", "roles"),
    [
        (f"{MACHINE}/Version", "1.11", "os:admin os:operator os:reader"),
        (f"{MACHINE}/EtcdStatus", "1.11", "os:admin os:etcd:backup os:operator os:reader"),
        (f"{MACHINE}/EtcdSnapshot", "1.14", "os:admin os:etcd:backup os:operator"),
        (f"{MACHINE}/Reboot", "1.14", "os:admin os:operator"),
        (f"{MACHINE}/Read", "1.14", "os:admin"),
        (f"{MACHINE}/ApplyConfiguration", "1.12", "os:admin"),
        (f"{MACHINE}/ApplyConfiguration", "1.13", "os:admin os:reader"),
        (f"{MACHINE}/MetaWrite", "1.12", "os:admin"),
        (f"{MACHINE}/MetaWrite", "1.13", "os:admin os:meta:writer"),
        (
            "/machine.ImageService/Verify",
            "1.13",
            "os:admin os:image:verifier os:operator os:reader",
        ),
        ("/machine.ImageService/Pull", "1.13", "os:admin os:operator"),
        ("/storage.StorageService/BlockDeviceWipe", "1.12", "os:admin"),
        ("/storage.StorageService/BlockDeviceWipe", "1.13", "os:admin os:reader"),
        ("/machine.LVMService/VolumeGroupRemove", "1.14", "os:admin os:reader"),
        ("/time.TimeService/TimeCheck", "1.11", "os:admin os:operator os:reader"),
        ("/cosi.resource.State/Watch", "1.11", "os:admin os:operator os:reader"),
        ("/cosi.resource.State/Create", "1.11", "os:admin"),
        ("/what.Ever/New", "1.14", "os:admin"),
    ],
)
def test_a_method_is_open_to_its_roles(path: str, minor: str, roles: str) -> None:
    assert " ".join(sorted(allowed(path, minor))) == roles


@pytest.mark.parametrize("minor", MINORS)
def test_admins_may_do_everything(minor: str) -> None:
    services = [name for package in packages().values() for name in package.get("services", {})]

    for service in services:
        try:
            names = list(load_api_schema(minor).service(service))
        except UnknownApiName:
            continue
        assert all("os:admin" in allowed(f"/{service}/{name}", minor) for name in names)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"{MACHINE}/Version", True),
        ("/time.TimeService/Time", True),
        (f"{MACHINE}/ApplyConfiguration", False),
        ("/storage.StorageService/BlockDeviceWipe", False),
        (f"{MACHINE}/Reboot", False),
    ],
)
def test_it_is_known_what_changes_nothing(path: str, expected: bool) -> None:
    assert only_reads(path) is expected
