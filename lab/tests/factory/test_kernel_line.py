"""Kernel command lines of images."""

import pytest
from stockman_lab.factory.kernel_line import Booted, kernel_line

NOCLOUD = "talos.platform=nocloud console=tty1 console=ttyS0 net.ifnames=0"
OLD = "init_on_alloc=1 slab_nomerge pti=on consoleblank=0 nvme_core.io_timeout=4294967295"


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (
            "v1.10.9",
            (
                f"{OLD} printk.devkmsg=on ima_template=ima-ng ima_appraise=fix ima_hash=sha512 "
                "selinux=1"
            ),
        ),
        ("v1.11.5", f"{OLD} printk.devkmsg=on selinux=1"),
        ("v1.12.1", f"{OLD} printk.devkmsg=on selinux=1 module.sig_enforce=1"),
        (
            "v1.13.9",
            f"{OLD} printk.devkmsg=on selinux=1 module.sig_enforce=1 proc_mem.force_override=never",
        ),
        (
            "v1.14.1",
            (
                "slab_nomerge pti=on consoleblank=0 printk.devkmsg=on selinux=1 "
                "module.sig_enforce=1 proc_mem.force_override=never"
            ),
        ),
    ],
)
def test_defaults_are_those_of_the_version(version: str, text: str) -> None:
    assert kernel_line(Booted(platform="nocloud", version=version)) == f"{NOCLOUD} {text}"


def test_metal_has_its_own_consoles() -> None:
    arm = kernel_line(Booted(platform="metal", version="v1.14.1", architecture="arm64"))

    assert arm.startswith("talos.platform=metal console=ttyAMA0 console=tty0 slab_nomerge ")


def test_an_iso_halts_where_talos_is_installed() -> None:
    line = kernel_line(Booted(platform="metal", version="v1.14.1", is_iso=True))

    assert "talos.halt_if_installed=1" in line.split()


@pytest.mark.parametrize(("version", "locked"), [("v1.13.9", True), ("v1.14.1", False)])
def test_secure_boot_locks_the_kernel_down_before_1_14(version: str, locked: bool) -> None:
    line = kernel_line(Booted(platform="metal", version=version, secure_boot=True))

    assert ("lockdown=confidentiality" in line.split()) is locked


def test_arguments_of_a_schematic_add_replace_and_remove() -> None:
    extra = ("console=ttyS1", "-pti", "-net.ifnames=1", "-selinux=1", "quiet", "a=1", "a=2")
    line = kernel_line(Booted(platform="nocloud", version="v1.14.1", extra=extra))

    assert line == (
        "talos.platform=nocloud console=ttyS1 net.ifnames=0 slab_nomerge consoleblank=0 "
        "printk.devkmsg=on module.sig_enforce=1 proc_mem.force_override=never quiet a=1 a=2"
    )
