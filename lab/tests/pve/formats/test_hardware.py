"""Hardware of a virtual machine as one looks at it."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.hardware import (
    canonical_machine_type,
    check_vga,
    current_memory,
    custom_cpu_model,
    is_agent_enabled,
    is_q35,
)


def test_an_agent_is_on_with_one_word_or_many() -> None:
    texts = [
        "1",
        "enabled=1,fstrim_cloned_disks=0,type=virtio",
        "on",
        "",
        "enabled=0",
        "0,type=isa",
    ]

    assert [is_agent_enabled(text) for text in texts] == [True, True, True, False, False, False]


def test_a_cpu_may_be_a_model_of_the_cluster() -> None:
    texts = ["host", "custom-mine,hidden=1", "cputype=custom-mine", "flags=+aes", ""]

    assert [custom_cpu_model(text) for text in texts] == ["", "mine", "mine", "", ""]


def test_a_machine_has_pci_express_or_not() -> None:
    assert [is_q35(text) for text in ("q35", "pc-q35-9.2+pve1", "pc", "")] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(ApiError, match="to use Intel vIOMMU please set the machine type to q35"):
        canonical_machine_type("pc,viommu=intel")
    assert canonical_machine_type("viommu=intel,type=q35") == "q35,viommu=intel"


def test_not_every_display_has_a_clipboard() -> None:
    check_vga("qxl,clipboard=vnc")
    check_vga("clipboard=vnc")
    with pytest.raises(ApiError, match="vga type serial0 is not compatible with VNC clipboard"):
        check_vga("serial0,clipboard=vnc")


def test_memory_is_in_mebibytes() -> None:
    assert [current_memory(text) for text in ("4096", "current=2048", "")] == [4096, 2048, 512]
