"""Hardware of a virtual machine as one looks at it."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.hardware import (
    META,
    RNG,
    VIRTIOFS,
    check_machine,
    check_vga,
    current_memory,
    parse_agent,
    parse_cpu,
    parse_machine,
    parse_vga,
    pinned_machine,
    print_meta,
    windows_version,
)
from stockman_lab.pve.formats.property_string import parse


@pytest.mark.parametrize("text", ["1", "enabled=1,fstrim_cloned_disks=0,type=virtio", "on"])
def test_an_agent_is_on_with_one_word_or_many(text: str) -> None:
    agent = parse_agent(text)

    assert (agent.enabled, agent.freezes, agent.trims_clones) == (True, True, False)
    assert agent.kind == "virtio"


@pytest.mark.parametrize("name", ["freeze-fs", "freeze-fs-on-backup", "guest-fsfreeze"])
def test_an_agent_that_shall_not_freeze_has_three_names_for_it(name: str) -> None:
    assert not parse_agent(f"1,{name}=0").freezes


def test_an_agent_that_is_off_has_no_other_settings() -> None:
    assert parse_agent("0,fstrim_cloned_disks=1") == parse_agent("")
    assert not parse_agent("enabled=0").enabled
    with pytest.raises(FormatError):
        parse_agent("type=virtio")


def test_a_cpu_is_a_model_with_flags() -> None:
    assert parse_cpu("host").model == "host"
    assert parse_cpu("cputype=x86-64-v2-AES,flags=+aes;-pcid").flags == ("+aes", "-pcid")
    assert parse_cpu("flags=+aes").model == "kvm64"
    assert parse_cpu("custom-mine,hidden=1").custom_model == "mine"
    assert parse_cpu("host").custom_model == ""
    with pytest.raises(FormatError):
        parse_cpu("host,flags=aes")


@pytest.mark.parametrize(
    ("text", "q35"), [("q35", True), ("pc-q35-9.2+pve1", True), ("pc", False), ("", False)]
)
def test_a_machine_has_pci_express_or_not(text: str, q35: bool) -> None:
    assert parse_machine(text).is_q35 is q35


def test_a_machine_may_have_an_iommu_and_only_known_names() -> None:
    assert parse_machine("q35,viommu=virtio").viommu == "virtio"
    with pytest.raises(FormatError):
        parse_machine("amiga")
    with pytest.raises(ApiError, match="to use Intel vIOMMU please set the machine type to q35"):
        check_machine("pc,viommu=intel")
    check_machine("q35,viommu=intel")


@pytest.mark.parametrize(
    ("machine", "os_type", "pinned"),
    [
        ("", "win11", "pc-i440fx-9.2+pve1"),
        ("q35,viommu=virtio", "win10", "pc-q35-9.2+pve1,viommu=virtio"),
        ("pc-q35-8.1", "win11", "pc-q35-8.1"),
        ("viommu=virtio,type=q35", "l26", "q35,viommu=virtio"),
        ("", "l26", ""),
    ],
)
def test_windows_keeps_the_version_that_it_meets_first(
    machine: str, os_type: str, pinned: str
) -> None:
    assert pinned_machine(machine, os_type, (9, 2)) == pinned


def test_a_display_has_a_kind_and_memory() -> None:
    assert parse_vga("std").memory is None
    assert parse_vga("virtio,memory=32").memory == 32
    assert parse_vga("serial0").kind == "serial0"
    assert parse_vga("none").kind == "none"
    for text in ("cga", "std,memory=3"):
        with pytest.raises(FormatError):
            parse_vga(text)


def test_not_every_display_has_a_clipboard() -> None:
    check_vga("qxl,clipboard=vnc")
    check_vga("clipboard=vnc")
    with pytest.raises(ApiError, match="vga type serial0 is not compatible with VNC clipboard"):
        check_vga("serial0,clipboard=vnc")


def test_memory_is_in_mebibytes() -> None:
    assert current_memory("4096") == 4096
    assert current_memory("current=2048") == 2048
    assert current_memory("") == 512
    with pytest.raises(FormatError, match="format error"):
        current_memory("15")


def test_random_numbers_and_shared_directories_name_their_source() -> None:
    assert parse(RNG, "/dev/urandom,max_bytes=1024")["source"] == "/dev/urandom"
    assert parse(VIRTIOFS, "data,cache=always")["dirid"] == "data"


def test_what_is_written_down_about_the_making_can_be_read() -> None:
    text = print_meta("9.2.0", 1712345678)

    assert text == "creation-qemu=9.2.0,ctime=1712345678"
    assert parse(META, text) == {"creation-qemu": "9.2.0", "ctime": "1712345678"}


def test_windows_is_known_by_its_number() -> None:
    names = ["win11", "win7", "wvista", "wxp", "l26", "", "winx", "win²"]
    assert [windows_version(name) for name in names] == [11, 7, 6, 5, 0, 0, 0, 0]
