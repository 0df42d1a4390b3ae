"""Changes of a container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.change import read_container_change
from stockman_lab.pve.guest_config.container_update import (
    apply_container_pending,
    check_container_update,
    plan_container_update,
)
from stockman_lab.pve.guest_config.state import GuestConfig, container_digest
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


def test_a_stopped_container_takes_everything_at_once() -> None:
    config = container()

    outcome = update(config, STOPPED, {"features": "nesting=1", "memory": "1024", "tty": "4"})

    assert (config.values["features"], config.values["memory"]) == ("nesting=1", "1024")
    assert outcome.applied == ["features", "memory", "tty"]
    assert not config.has_pending


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("description", "new\n"),
        ("onboot", "1"),
        ("startup", "order=1"),
        ("protection", "1"),
        ("hostname", "other"),
        ("hookscript", "local:snippets/a.sh"),
        ("cores", "2"),
        ("tags", "a;b"),
        ("memory", "1024"),
        ("swap", "256"),
        ("cpulimit", "1.5"),
        ("cpuunits", "200"),
        ("net0", CARD.replace("vmbr0", "vmbr1")),
        ("net12", CARD.replace("eth0", "eth1")),
        ("mp3", MOUNT),
        ("dev0", "/dev/dri/card0"),
    ],
)
def test_some_keys_of_a_running_container_are_live(key: str, value: str) -> None:
    config = container()

    outcome = update(config, RUNNING, {key: value})

    assert config.values[key] == value
    assert outcome.applied == [key]
    assert not config.has_pending


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("features", "nesting=1"),
        ("rootfs", "local-lvm:vm-200-disk-9,size=8G"),
        ("mp0", "local-lvm:vm-200-disk-9,mp=/srv,size=8G"),
        ("dev0", "/dev/dri/card1"),
        ("console", "0"),
        ("tty", "4"),
        ("arch", "arm64"),
        ("nameserver", "10.0.0.1"),
        ("searchdomain", "example.com"),
        ("ostype", "alpine"),
        ("timezone", "host"),
    ],
)
def test_other_keys_of_a_running_container_wait(key: str, value: str) -> None:
    config = container(mp0=MOUNT, dev0="/dev/dri/card0")

    outcome = update(config, RUNNING, {key: value})

    assert config.pending == {key: value}
    assert outcome.applied == []


@pytest.mark.parametrize(
    ("key", "live"),
    [
        ("swap", True),
        ("cpulimit", True),
        ("cpuunits", True),
        ("net0", True),
        ("net10", False),
        ("onboot", True),
        ("features", False),
        ("mp0", False),
        ("nameserver", False),
    ],
)
def test_a_running_container_loses_some_keys_at_once(key: str, live: bool) -> None:
    config = container(
        swap="1",
        cpulimit="1",
        cpuunits="5",
        net10=CARD,
        onboot="1",
        features="nesting=1",
        mp0=MOUNT,
        nameserver="10.0.0.1",
    )

    update(config, RUNNING, {"delete": key})

    assert (key not in config.values) is live
    assert (key in config.pending_delete) is not live


def test_a_new_mount_is_made() -> None:
    for around in (RUNNING, STOPPED):
        config = container()
        outcome = update(config, around, {"mp0": "local-lvm:4,mp=/srv,backup=1"})

        assert config.values["mp0"] == "local-lvm:vm-200-disk-7,mp=/srv,backup=1,size=4G"
        assert outcome.plugged == ["mp0"]


def test_a_mount_that_goes_leaves_its_volume_unused() -> None:
    config = container(mp0=MOUNT, mp1="/srv/data,mp=/data")

    outcome = update(config, STOPPED, {"delete": "mp0,mp1"})

    assert config.values["unused0"] == "local-lvm:vm-200-disk-1"
    assert outcome.unused == {"unused0": "local-lvm:vm-200-disk-1"}
    assert "unused1" not in config.values


def test_another_volume_moves_the_old_one_to_unused() -> None:
    config = container(mp0=MOUNT)

    update(config, STOPPED, {"mp0": "local-lvm:1,mp=/srv"})

    assert config.values["mp0"] == "local-lvm:vm-200-disk-7,mp=/srv,size=1G"
    assert config.values["unused0"] == "local-lvm:vm-200-disk-1"


def test_a_volume_in_use_again_is_unused_no_more() -> None:
    config = container(unused0="local-lvm:vm-200-disk-1")

    update(config, STOPPED, {"mp5": MOUNT})

    assert "unused0" not in config.values


@pytest.mark.parametrize("around", [RUNNING, STOPPED])
def test_a_deleted_unused_volume_is_destroyed(around: Surroundings) -> None:
    config = container(unused0="local-lvm:vm-200-disk-9", unused1="local-lvm:vm-9-disk-0")

    outcome = update(config, around, {"delete": "unused0,unused1"})

    assert outcome.freed == ["local-lvm:vm-200-disk-9"]
    assert not any(key.startswith("unused") for key in config.values)


@pytest.mark.parametrize("key", ["memory", "rootfs", "ostype"])
def test_what_a_container_needs_cannot_be_deleted(key: str) -> None:
    with pytest.raises(ApiError) as refused:
        update(container(), STOPPED, {"delete": key})

    assert refused.value.message == f"unable to delete required option '{key}'"


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


def test_revert_drops_what_waits() -> None:
    config = container(nameserver="10.0.0.1")
    update(config, RUNNING, {"features": "nesting=1", "delete": "nameserver"})
    assert config.pending_section == {"features": "nesting=1", "delete": "nameserver"}

    update(config, RUNNING, {"revert": "features,nameserver"})

    assert not config.has_pending


def test_with_an_error_nothing_is_written() -> None:
    config = container()
    around = replace(RUNNING, stuck=lambda key: "no such bridge" if key == "net0" else "")
    before = container_digest(config)

    outcome = update(config, around, {"net0": CARD.replace("vmbr0", "vmbr7"), "cores": "4"})

    assert outcome.errors == {"net0": "unable to hotplug net0: no such bridge\n"}
    assert outcome.applied == []
    assert container_digest(config) == before


def test_a_volume_that_cannot_be_made_is_an_error_of_its_key() -> None:
    config = container()

    def full(mount: object) -> object:
        raise ApiError(500, f"no space for {mount}")

    around = replace(STOPPED, mounted=full)  # type: ignore[arg-type]  # it never returns

    outcome = update(config, around, {"mp0": "local-lvm:4,mp=/srv"})

    assert outcome.errors == {
        "mp0": "unable to apply pending change mp0 : no space for local-lvm:4,mp=/srv\n"
    }
    assert "mp0" not in config.values


def test_what_waits_is_applied_at_the_next_start_and_not_by_another_change() -> None:
    config = container()
    update(config, RUNNING, {"features": "nesting=1"})

    update(config, STOPPED, {"cores": "2"})
    assert config.pending == {"features": "nesting=1"}

    outcome = apply_container_pending(config, STOPPED)
    assert config.values["features"] == "nesting=1"
    assert outcome.applied == ["features"]


def test_lists_are_stored_with_blanks_and_tags_in_their_style() -> None:
    config = container()

    update(config, STOPPED, {"nameserver": "10.0.0.1,10.0.0.2", "tags": "B;a"})

    assert (config.values["nameserver"], config.values["tags"]) == ("10.0.0.1 10.0.0.2", "a;b")


def test_a_card_that_the_host_manages_has_no_automatic_address() -> None:
    card = "name=eth0,bridge=vmbr0,ip6=auto,host-managed=1"

    with pytest.raises(ApiError) as refused:
        update(container(), STOPPED, {"net0": card})

    assert refused.value.message == (
        "net0: SLAAC is not supported for host-managed network configuration."
    )
    update(container(), STOPPED, {"net0": f"{card},link_down=1"})


def test_locks_and_digests_are_looked_at_first() -> None:
    config = container()

    check_container_update(config, container_digest(config))
    with pytest.raises(ApiError) as refused:
        check_container_update(config, "0" * 40)
    assert refused.value.message == (
        "detected modified configuration - file changed by other user? Try again."
    )
    with pytest.raises(ApiError, match=r"CT is locked \(backup\)"):
        check_container_update(container(lock="backup"))
