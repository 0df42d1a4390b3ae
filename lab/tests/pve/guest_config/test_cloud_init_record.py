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
