"""Changes of a container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.change import read_container_change
from stockman_lab.pve.guest_config.container_update import (
    plan_container_update,
)
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.surroundings import Outcome, Surroundings

from lab.tests.pve.guest_config import guests

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


def update(
    config: GuestConfig, surroundings: Surroundings, parameters: Mapping[str, str]
) -> Outcome:
    """What a request with these parameters does."""
    return plan_container_update(config, read_container_change(parameters), surroundings)


@pytest.mark.parametrize("around", [RUNNING, STOPPED])
def test_a_deleted_unused_volume_is_destroyed(around: Surroundings) -> None:
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
