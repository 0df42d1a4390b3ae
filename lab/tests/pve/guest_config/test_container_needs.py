"""What a user has to be allowed to change each key of a container."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.volume_name import VolumeName, parse_volume_id, parse_volume_name
from stockman_lab.pve.guest_config.change import Change
from stockman_lab.pve.guest_config.container_needs import (
    container_key_needs,
    container_update_needs,
)
from stockman_lab.pve.guest_config.needs import Asked, Guest, Need, OnlyRoot


def name_of(volume: str) -> VolumeName:
    """What the name of a volume on a thin pool says."""
    return parse_volume_name("lvmthin", parse_volume_id(volume)[1])


GUEST = Guest(200, name_of)
UNPRIVILEGED = {"unprivileged": "1"}


def on_guest(privilege: str) -> Need:
    """One privilege on the container."""
    return Need("/vms/200", (privilege,), on_guest=True)


def refusal(need: Asked) -> tuple[int, str]:
    """Status and text of a refusal."""
    assert isinstance(need, OnlyRoot)
    return need.error.status, need.error.message


@pytest.mark.parametrize(
    ("keys", "privilege"),
    [
        ("cores cpuunits cpulimit", "VM.Config.CPU"),
        ("memory swap", "VM.Config.Memory"),
        ("nameserver searchdomain hostname", "VM.Config.Network"),
        ("onboot startup description tty console cmode protection arch", "VM.Config.Options"),
    ],
)
def test_most_keys_take_one_privilege(keys: str, privilege: str) -> None:
    for key in keys.split():
        assert container_key_needs(GUEST, key, {}, "1") == [on_guest(privilege)]
        assert container_key_needs(GUEST, key, {}, None) == [on_guest(privilege)]


def test_a_mount_takes_disks_and_space() -> None:
    space = Need("/storage/local-lvm", ("Datastore.AllocateSpace",))
    disk = on_guest("VM.Config.Disk")

    assert container_key_needs(GUEST, "mp0", {}, "local-lvm:4,mp=/a") == [disk, space]
    assert container_key_needs(GUEST, "rootfs", {}, "local-lvm:vm-200-disk-0") == [disk]
    assert container_key_needs(GUEST, "mp0", {}, None) == [disk]
    assert len(container_key_needs(GUEST, "mp0", {}, "local-lvm:vm-7-disk-0,mp=/a")) == 3


@pytest.mark.parametrize(("value", "kind"), [("/srv,mp=/a", "bind"), ("/dev/sdb,mp=/a", "device")])
def test_things_of_the_host_are_only_for_root(value: str, kind: str) -> None:
    needs = container_key_needs(GUEST, "mp0", {}, value)

    assert refusal(needs[-1]) == (
        403,
        f"Permission check failed (mount point type {kind} is only allowed for root@pam)",
    )


def test_a_card_takes_the_old_and_the_new_bridge() -> None:
    old = {"net0": "name=eth0,bridge=vmbr0"}

    assert container_key_needs(GUEST, "net0", old, "name=eth0,bridge=vmbr1,tag=5") == [
        on_guest("VM.Config.Network"),
        Need("/sdn/zones/localnetwork/vmbr0", ("SDN.Use",)),
        Need("/sdn/zones/localnetwork/vmbr1/5", ("SDN.Use",)),
    ]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("dev0", "configuring device passthrough is only allowed for root@pam"),
        ("hookscript", "changing the hookscript is only allowed for root@pam"),
    ],
)
def test_devices_and_scripts_are_only_for_root(key: str, why: str) -> None:
    (need,) = container_key_needs(GUEST, key, {}, "x")

    assert refusal(need) == (403, f"Permission check failed ({why})")


@pytest.mark.parametrize(
    ("old", "new"),
    [("", "nesting=1"), ("nesting=1", "nesting=0"), ("nesting=1", None),
     ("nesting=1,fuse=1", "nesting=0,fuse=1")],
)  # fmt: skip
def test_nesting_takes_the_right_to_make_guests(old: str, new: str | None) -> None:
    values = {**UNPRIVILEGED, "features": old}

    assert container_key_needs(GUEST, "features", values, new) == [on_guest("VM.Allocate")]


@pytest.mark.parametrize(
    ("old", "new"), [("", "fuse=1"), ("nesting=1", "nesting=1,keyctl=1"), ("fuse=1", None)]
)
def test_other_features_are_only_for_root(old: str, new: str | None) -> None:
    values = {**UNPRIVILEGED, "features": old}

    (need,) = container_key_needs(GUEST, "features", values, new)

    why = "changing feature flags (except nesting) is only allowed for root@pam"
    assert refusal(need) == (403, f"Permission check failed ({why})")


def test_the_same_features_take_nothing() -> None:
    values = {**UNPRIVILEGED, "features": "fuse=1,nesting=1"}

    assert container_key_needs(GUEST, "features", values, "nesting=1,fuse=1") == []


def test_features_of_a_privileged_container_are_only_for_root() -> None:
    (need,) = container_key_needs(GUEST, "features", {}, "nesting=1")

    why = "changing feature flags for privileged container is only allowed for root@pam"
    assert refusal(need) == (403, f"Permission check failed ({why})")


def test_tags_take_options() -> None:
    assert container_key_needs(GUEST, "tags", {"tags": "a"}, "b") == [on_guest("VM.Config.Options")]


def test_a_change_is_asked_for_what_goes_before_what_comes() -> None:
    change = Change(sets={"cores": "2"}, deletes=["swap"], reverts=["hostname"])

    assert container_update_needs(UNPRIVILEGED, change, GUEST) == [
        on_guest("VM.Config.Memory"),
        on_guest("VM.Config.Network"),
        on_guest("VM.Config.CPU"),
    ]
