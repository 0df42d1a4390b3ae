"""Changes of containers, and what a user needs for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.volume_name import VolumeName, parse_volume_id, parse_volume_name
from stockman_lab.pve.guest_config.change import read_container_change
from stockman_lab.pve.guest_config.container_needs import (
    container_key_needs,
)
from stockman_lab.pve.guest_config.container_update import (
    plan_container_update,
)
from stockman_lab.pve.guest_config.context import GuestContext, Outcome
from stockman_lab.pve.guest_config.needs import Asked, Guest, OnlyRoot
from stockman_lab.pve.guest_config.state import GuestConfig

from lab.tests.pve.guest_config import guests


def name_of(volume: str) -> VolumeName:
    """What the name of a volume on a thin pool says."""
    return parse_volume_name("lvmthin", parse_volume_id(volume)[1])


GUEST = Guest(200, name_of)
UNPRIVILEGED = {"unprivileged": "1"}


def refusal(need: Asked) -> tuple[int, str]:
    """Status and text of a refusal."""
    assert isinstance(need, OnlyRoot)
    return need.error.status, need.error.message


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


def test_the_same_features_take_nothing() -> None:
    values = {**UNPRIVILEGED, "features": "fuse=1,nesting=1"}

    assert container_key_needs(GUEST, "features", values, "nesting=1,fuse=1") == []


def test_features_of_a_privileged_container_are_only_for_root() -> None:
    (need,) = container_key_needs(GUEST, "features", {}, "nesting=1")

    why = "changing feature flags for privileged container is only allowed for root@pam"
    assert refusal(need) == (403, f"Permission check failed ({why})")


STOPPED = replace(guests.STOPPED, vmid=200)
RUNNING = replace(guests.RUNNING, vmid=200)
CARD = "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:01,ip=dhcp,type=veth"
MOUNT = "local-lvm:vm-200-disk-1,mp=/srv,size=4G"


def container(**more: str) -> GuestConfig:
    """A container with a root and a card."""
    values = {
        "hostname": "web",
        "memory": "512",
        "net0": CARD,
        "ostype": "debian",
        "rootfs": "local-lvm:vm-200-disk-0,size=8G",
        "unprivileged": "1",
    }
    return GuestConfig({**values, **more})


def update(config: GuestConfig, context: GuestContext, parameters: Mapping[str, str]) -> Outcome:
    """What a request with these parameters does."""
    return plan_container_update(config, read_container_change(parameters), context)


@pytest.mark.parametrize("around", [RUNNING, STOPPED])
def test_a_deleted_unused_volume_is_destroyed(around: GuestContext) -> None:
    config = container(unused0="local-lvm:vm-200-disk-9", unused1="local-lvm:vm-9-disk-0")

    outcome = update(config, around, {"delete": "unused0,unused1"})

    assert outcome.freed == ["local-lvm:vm-200-disk-9"]
    assert not any(key.startswith("unused") for key in config.values)


def test_whether_a_container_is_privileged_cannot_change() -> None:
    with pytest.raises(ApiError, match="unable to delete read-only option: 'unprivileged'"):
        update(container(), STOPPED, {"delete": "unprivileged"})
    with pytest.raises(ApiError, match="unable to modify read-only option: 'unprivileged'"):
        update(container(), STOPPED, {"unprivileged": "0"})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"delete": "mp0"}, "can't remove CT 200 drive 'mp0' - protection mode enabled"),
        ({"delete": "unused0"}, "can't remove CT 200 drive 'unused0' - protection mode enabled"),
        ({"mp0": MOUNT}, "can't update CT 200 drive 'mp0' - protection mode enabled"),
    ],
)
def test_protection_keeps_mounts(parameters: Mapping[str, str], message: str) -> None:
    config = container(protection="1", mp0=MOUNT, unused0="local-lvm:vm-200-disk-9")

    with pytest.raises(ApiError) as refused:
        update(config, STOPPED, parameters)

    assert refused.value.message == message


def test_deleting_what_is_not_set_only_warns() -> None:
    outcome = update(container(), STOPPED, {"delete": "mp5"})

    assert outcome.warnings == ["cannot delete 'mp5' - not set in current configuration!"]
