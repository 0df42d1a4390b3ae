"""Values that change others, or themselves, on their way into a virtual machine."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.guest_config.guests import RUNNING, STOPPED, changed, machine, update


def test_a_device_of_the_same_request_may_be_booted_from() -> None:
    config = machine()

    changed(config, STOPPED, boot="order=ide2;scsi0", ide2="local:iso/a.iso,media=cdrom")

    assert config.values["boot"] == "order=ide2;scsi0"


def test_deleted_tags_are_gone_at_once() -> None:
    config = machine(tags="a;b")

    update(config, RUNNING, {"delete": "tags"})

    assert "tags" not in config.values
    assert not config.has_pending


def test_a_password_takes_effect_at_once() -> None:
    config = machine()

    changed(config, RUNNING, cipassword="$5$salt$hash")

    assert config.values["cipassword"] == "$5$salt$hash"


def test_a_display_and_a_machine_that_cannot_be_are_refused() -> None:
    with pytest.raises(ApiError, match="vga type none is not compatible with VNC clipboard"):
        changed(machine(), STOPPED, vga="none,clipboard=vnc")
    with pytest.raises(ApiError, match="to use Intel vIOMMU please set the machine type to q35"):
        changed(machine(), STOPPED, machine="pc,viommu=intel")
