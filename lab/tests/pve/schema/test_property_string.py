"""Property strings are checked key by key."""

from __future__ import annotations

import pytest
from stockman_lab.pve.schema import texts

from lab.tests.pve.schema.asking import VM, errors, parameters

CACHES = ("auto", "always", "metadata", "never")


def said(key: str, value: str, profile: str = "9.1") -> str:
    """What is said about one value of a machine's configuration."""
    return errors("PUT", f"{VM}/config", profile, **{key: value})[key]


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (
            "net0",
            "virtio,bridge=a,bridge=b",
            "duplicate key in comma-separated list property: bridge",
        ),
        ("net0", "virtio,e1000", "duplicate key in comma-separated list property: model"),
        ("net0", "model=virtio,e1000", "duplicate key in comma-separated list property: model"),
        (
            "net0",
            "virtio=BC:24:11:AA:BB:CC,e1000=BC:24:11:AA:BB:CD",
            "key alias 'model' is already defined",
        ),
        ("net0", "=x", "missing key in comma-separated list property"),
        ("ipconfig0", "dhcp", "value without key, but schema does not define a default key"),
        ("cpu", "flags=+aes", "CPU is missing cputype"),
        (
            "cpu",
            "pentium9",
            "Built-in cputype 'pentium9' is not defined (missing 'custom-' prefix?)",
        ),
        ("cpu", "custom-mine", "Custom cputype 'mine' not found"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(key: str, value: str, problem: str) -> None:
    assert said(key, value) == f"invalid format - {problem}\n"


@pytest.mark.parametrize(
    ("key", "value", "problems"),
    [
        ("net0", "", "net0.model: property is missing and it is not optional\n"),
        (
            "net0",
            "virtio,foo=1",
            f"net0.foo: {texts.NOT_DEFINED}\n",
        ),
        (
            "net0",
            "virtio,bridge=a b",
            "net0.bridge: invalid format - invalid bridge ID 'a b'\n\n",
        ),
        ("net0", "virtio,tag=5000", "net0.tag: value must have a maximum value of 4094\n"),
        (
            "net0",
            "virtio,firewall=maybe",
            "net0.firewall: type check ('boolean') failed - got 'maybe'\n",
        ),
        ("ipconfig0", "gw=10.0.0.1", "ipconfig0.ip: missing property required by 'ipconfig0.gw'\n"),
        ("boot", "order=scsi0;zip0", "boot.order: invalid format - invalid boot device 'zip0'\n\n"),
        (
            "virtiofs0",
            "wool,cache=no",
            f"virtiofs0.cache: {texts.not_an_option('no', CACHES)}\n",
        ),
    ],
)
def test_wrong_keys_are_listed(key: str, value: str, problems: str) -> None:
    assert said(key, value) == f"invalid format - format error\n{problems}"


def test_flags_of_processors_are_a_closed_list() -> None:
    problem = said("cpu", "host,flags=+aes;+vmx")

    assert problem.startswith(
        "invalid format - VM-specific CPU flags must be a subset of: aes, amd-"
    )


def test_retention_is_all_or_counted() -> None:
    backup = "/cluster/backup/nightly"

    assert errors("PUT", backup, prune__backups="keep-all=1,keep-last=3") == {
        "prune-backups": "invalid format - keep-all cannot be set together with other options.\n"
    }
    assert parameters("PUT", backup, prune__backups="keep-last=3,keep-daily=0")


def test_fleecing_needs_a_storage() -> None:
    assert errors("PUT", "/cluster/backup/nightly", fleecing="1") == {
        "fleecing": "invalid format - 'storage' parameter is required when 'enabled' is set\n"
    }
