"""Changes of a virtual machine that runs."""

from __future__ import annotations

import pytest
from stockman_lab.pve.guest_config.state import GuestConfig

from lab.tests.pve.guest_config.guests import DATA, MAC, RUNNING, changed, machine, update

EVERYTHING = "network,disk,cpu,memory,usb,cloudinit"


def is_live(config: GuestConfig, key: str, value: str) -> bool:
    """Whether a new value holds at once; otherwise it waits, without complaint."""
    outcome = changed(config, RUNNING, **{key: value})
    assert outcome.errors == {}
    applied = config.values.get(key) == value
    assert applied == (key not in config.pending)
    assert applied == (key in outcome.applied)
    return applied


@pytest.mark.parametrize(
    "card",
    [
        f"e1000={MAC},bridge=vmbr0",
        "virtio=BC:24:11:00:00:99,bridge=vmbr0",
        f"virtio={MAC},bridge=vmbr0,queues=4",
        f"virtio={MAC},bridge=vmbr0,mtu=9000",
        f"virtio={MAC}",
    ],
)
def test_another_card_is_replugged_if_the_network_may_be(card: str) -> None:
    assert not is_live(machine(hotplug="disk"), "net0", card)
    config = machine(hotplug="network")

    outcome = changed(config, RUNNING, net0=card)

    assert config.values["net0"] == card
    assert (outcome.unplugged, outcome.plugged) == (["net0"], ["net0"])


@pytest.mark.parametrize("key", ["ide0", "sata0", "efidisk0", "tpmstate0"])
def test_drives_on_old_buses_never_come_or_go(key: str) -> None:
    disk = "local-lvm:vm-100-disk-5,size=1G"
    assert not is_live(machine(hotplug=EVERYTHING), key, disk)

    config = machine(hotplug=EVERYTHING, **{key: disk})
    update(config, RUNNING, {"delete": key})

    assert config.values[key] == disk
    assert config.pending_delete == {key: 0}


def test_another_volume_replaces_a_disk_if_disks_may_come_and_go() -> None:
    other = "local-lvm:vm-100-disk-5,size=1G"
    assert not is_live(machine(hotplug="0"), "scsi1", other)
    config = machine()

    outcome = changed(config, RUNNING, scsi1=other)

    assert config.values["scsi1"] == other
    assert config.values["unused0"] == DATA
    assert (outcome.unplugged, outcome.plugged) == (["scsi1"], ["scsi1"])


@pytest.mark.parametrize("option", ["mbps_rd=10", "iops=100", "backup=0", "replicate=0"])
def test_limits_of_a_disk_are_always_live(option: str) -> None:
    assert is_live(machine(hotplug="0"), "scsi1", f"{DATA},{option},size=8G")


@pytest.mark.parametrize("key", ["ide2", "sata1", "scsi3"])
def test_a_medium_changes_live_on_any_bus(key: str) -> None:
    config = machine(hotplug="0", **{key: "local:iso/a.iso,media=cdrom"})

    assert is_live(config, key, "local:iso/b.iso,media=cdrom")
    assert is_live(config, key, "none,media=cdrom")


@pytest.mark.parametrize(
    ("values", "live"),
    [
        ({"ostype": "l26"}, True),
        ({"ostype": "l26", "hotplug": "disk"}, False),
        ({"ostype": "other"}, False),
    ],
)
def test_usb_devices_come_and_go_on_modern_guests(values: dict[str, str], live: bool) -> None:
    config = machine(**values)

    changed(config, RUNNING, usb0="host=046d:c52b")
    assert (config.values.get("usb0") == "host=046d:c52b") is live

    config = machine(**values, usb0="spice")
    update(config, RUNNING, {"delete": "usb0"})
    assert ("usb0" not in config.values) is live


def test_cpus_are_plugged_in_up_to_the_cores_if_cpus_may() -> None:
    assert not is_live(machine(), "vcpus", "1")
    config = machine(hotplug="cpu")
    assert is_live(config, "vcpus", "1")

    outcome = changed(config, RUNNING, vcpus="3")

    assert outcome.errors == {"vcpus": "hotplug problem - you can't add more vcpus than maxcpus\n"}
    update(config, RUNNING, {"delete": "vcpus", "revert": "cores"})
    assert "vcpus" not in config.values


def test_memory_grows_live_with_its_feature_and_numa() -> None:
    assert not is_live(machine(), "memory", "8192")
    assert not is_live(machine(hotplug="memory"), "memory", "8192")
    assert not is_live(machine(numa="1"), "memory", "8192")
    config = machine(hotplug="memory", numa="1")
    assert is_live(config, "memory", "8192")

    small = changed(config, RUNNING, memory="512")
    large = changed(config, RUNNING, memory=str(1 << 20))

    assert small.errors == {"memory": "hotplug problem - memory can't be lower than 1024 MB\n"}
    assert large.errors == {
        "memory": "hotplug problem - you cannot add more memory than max mem 524288 MB!\n"
    }


def test_a_balloon_changes_live_but_does_not_appear_or_vanish() -> None:
    assert is_live(machine(), "balloon", "2048")
    assert is_live(machine(balloon="1024"), "balloon", "2048")
    assert not is_live(machine(), "balloon", "0")
    assert not is_live(machine(balloon="0"), "balloon", "1024")
    for value, live in (("1024", True), ("0", False)):
        config = machine(balloon=value)
        update(config, RUNNING, {"delete": "balloon"})
        assert ("balloon" not in config.values) is live


@pytest.mark.parametrize(("key", "value"), [("cpuunits", "200"), ("cpulimit", "1.5")])
def test_cpu_weights_and_limits_are_always_live(key: str, value: str) -> None:
    config = machine(hotplug="0")
    assert is_live(config, key, value)

    update(config, RUNNING, {"delete": key})

    assert key not in config.values


def test_only_trimming_of_the_agent_changes_live() -> None:
    assert is_live(machine(agent="1"), "agent", "enabled=1,fstrim_cloned_disks=1")
    assert is_live(machine(agent="1"), "agent", "enabled=1")
    assert not is_live(machine(agent="1"), "agent", "0")
    assert not is_live(machine(agent="1"), "agent", "1,type=isa")
    assert not is_live(machine(), "agent", "1")


def test_the_list_of_features_changes_live_without_cpus_and_memory() -> None:
    assert is_live(machine(), "hotplug", "disk")
    assert not is_live(machine(), "hotplug", "disk,memory")
    assert not is_live(machine(hotplug="cpu"), "hotplug", "disk")
    for value, live in (("disk", True), ("disk,cpu", False)):
        config = machine(hotplug=value)
        update(config, RUNNING, {"delete": "hotplug"})
        assert ("hotplug" not in config.values) is live


def test_the_tablet_is_a_usb_device() -> None:
    assert is_live(machine(), "tablet", "0")
    assert not is_live(machine(hotplug="disk"), "tablet", "0")
    config = machine(tablet="0")
    update(config, RUNNING, {"delete": "tablet"})
    assert "tablet" not in config.values


def test_a_deleted_device_leaves_the_boot_order_only_at_the_next_start() -> None:
    config = machine()

    update(config, RUNNING, {"delete": "net0"})

    assert config.values["boot"] == "order=scsi0;net0"
    assert config.pending["boot"] == "order=scsi0"
