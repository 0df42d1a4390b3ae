"""What the cloud-init drive does not know yet."""

from __future__ import annotations

from stockman_lab.pve.guest_config.hotplug import record_change
from stockman_lab.pve.guest_config.state import GuestConfig


def test_the_first_old_value_is_kept_until_it_comes_back() -> None:
    config = GuestConfig()

    record_change(config, "ciuser", "one", "two")
    record_change(config, "ciuser", "two", "three")
    assert config.cloud_init == {"ciuser": "one"}

    record_change(config, "ciuser", "three", "one")
    assert config.cloud_init == {}


def test_a_new_value_is_marked_until_it_goes() -> None:
    config = GuestConfig()

    record_change(config, "nameserver", None, "10.0.0.1")
    record_change(config, "ipconfig0", None, "ip=dhcp")
    record_change(config, "nameserver", "10.0.0.1", "10.0.0.2")
    assert config.cloud_init == {"added": "ipconfig0,nameserver"}

    record_change(config, "nameserver", "10.0.0.2", None)
    assert config.cloud_init == {"added": "ipconfig0"}


def test_a_removed_value_is_kept_and_may_come_back_as_another() -> None:
    config = GuestConfig()

    record_change(config, "net0", "virtio", None)
    record_change(config, "net0", None, "e1000")
    record_change(config, "net0", "e1000", None)
    assert config.cloud_init == {"net0": "virtio"}

    record_change(config, "net0", None, "virtio")
    assert config.cloud_init == {}


def test_other_keys_do_not_matter_to_the_drive() -> None:
    config = GuestConfig()

    record_change(config, "cores", "1", "2")
    record_change(config, "name", None, None)

    assert config.cloud_init == {}
