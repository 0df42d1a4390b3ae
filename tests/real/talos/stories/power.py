"""Stories of machines that go down and come back: reboots, resets, upgrades."""

from __future__ import annotations

from stockman_lab.talos.disk import EPHEMERAL, TalosDisk
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage

from tests.real.talos.golden import agrees
from tests.real.talos.served import EMPTY, VERSIONS, Lab, Talosctl, refused, stage_of, succeeded

_NOWHERE = "1.99.0"


def machines_reboot(lab: Lab, client: str, server: str, modes: tuple[str, ...]) -> None:
    """A reboot is followed until the machine is back, with another boot id."""
    machine, ask = lab.machine(), lab.talosctl(client)
    for mode in modes:
        before = machine.state.boot_id
        answer = succeeded(ask("reboot", "--mode", mode))
        agrees(lab, "tracked-reboot", client, answer)
        assert machine.state.boot_id != before
        assert machine.state.by_kexec == (mode == "default")
        assert stage_of(machine) is Stage.RUNNING
    before = machine.state.boot_id
    succeeded(ask("reboot", "--wait=false"))
    lab.settle()
    assert machine.state.boot_id != before
    assert machine.version == f"v{server}"


def a_machine_shuts_down(lab: Lab, client: str) -> None:
    """A shutdown ends when services stop; then nobody answers."""
    machine, ask = lab.machine(), lab.talosctl(client)

    agrees(lab, "tracked-shutdown", client, succeeded(ask("shutdown")))

    lab.settle()
    assert not machine.state.is_on
    refused(ask("version"), "connection refused")


def parts_are_wiped(lab: Lab, client: str) -> None:
    """Unknown parts are refused; EPHEMERAL goes, and etcd with it; then everything goes."""
    machine, ask = lab.machine(), lab.talosctl(client)
    unknown = ask("reset", "--system-labels-to-wipe", "NOTHING")
    agrees(lab, "reset-label-unknown", client, unknown)
    system = ask("reset", "--user-disks-to-wipe", "/dev/sda")
    refused(system, "reset user disk failed: device /dev/sda is the system disk")
    assert stage_of(machine) is Stage.RUNNING
    before, config = machine.state.boot_id, machine.state.config

    wiped = ("--graceful=false", "--system-labels-to-wipe", EPHEMERAL, "--reboot")
    agrees(lab, "tracked-reset", client, succeeded(ask("reset", *wiped)))
    lab.settle()

    assert machine.state.boot_id != before
    assert machine.state.config == config
    assert machine.disk is not None
    assert machine.disk.etcd == {}
    assert stage_of(machine) is Stage.BOOTING  # etcd waits for a bootstrap
    succeeded(ask("reset", "--graceful=false"))
    lab.settle()
    assert not machine.state.is_on
    guest = lab.world.talos.view(machine)
    assert not any(TalosDisk(disk).is_installed for disk in guest.disks if not disk.is_cdrom)


def a_member_resets_gracefully(lab: Lab, client: str) -> None:
    """A member of three leaves etcd before its disk is wiped."""
    machine, ask = lab.machine(1), lab.talosctl(client)
    name = machine.hostname

    succeeded(ask("reset", nodes=machine.address))
    lab.settle()

    assert name not in [member.name for member in lab.etcd.members.values()]
    assert not machine.state.is_on


def a_machine_is_upgraded(lab: Lab, client: str, server: str, target: str) -> None:
    """An image that is not there changes nothing; one that is boots; a rollback goes back."""
    machine, ask = lab.machine(), lab.talosctl(client)
    agrees(lab, "rollback-nothing", client, ask("rollback"))
    unknown = ask("upgrade", "-i", installer(_NOWHERE))
    assert unknown.returncode == 1
    assert "not found" in unknown.stderr
    agrees(lab, "upgrade-image-unknown", client, unknown)
    assert (machine.version, machine.state.slot) == (f"v{server}", "A")

    answer = succeeded(ask("upgrade", "-i", installer(target), *_without_drain(client)))

    agrees(lab, "tracked-upgrade", client, answer)
    _runs(machine, target, "B")
    succeeded(ask("rollback"))
    lab.settle()
    _runs(machine, server, "A")


def a_machine_is_upgraded_the_old_way(lab: Lab, client: str, target: str, *, stage: bool) -> None:
    """The older API, also where there is a newer one; staged, the next boot installs."""
    machine, ask = lab.machine(), lab.talosctl(client)
    before = machine.state.boot
    flags = [*_legacy(client), *(["--stage"] if stage else [])]

    succeeded(ask("upgrade", "-i", installer(target), *flags))

    lab.settle()
    _runs(machine, target, "B")
    assert machine.state.boot == before + (2 if stage else 1)
    assert machine.disk is not None
    assert not machine.disk.meta.keys() & {"7", "8"}


def etcd_is_guarded(lab: Lab, client: str, server: str, target: str) -> None:
    """The older API looks at etcd: not with two members, not with an ill one, unless forced."""
    machine, ask = lab.machine(), lab.talosctl(client)
    third = lab.machine(2)
    lab.switch_off(2)
    upgrade = ("upgrade", "-i", installer(target), *_legacy(client))
    refused(ask(*upgrade), "is not healthy; all members must be healthy to perform an upgrade")
    lost = next(key for key, member in lab.etcd.members.items() if member.name == third.hostname)
    succeeded(ask("etcd", "remove-member", lost))

    agrees(lab, "upgrade-guard", client, ask(*upgrade))

    _runs(machine, server, "A")
    succeeded(ask(*upgrade, "--force"))
    _runs(machine, target, "B")


def installer(version: str) -> str:
    """An installer image of a version."""
    return f"factory.talos.dev/nocloud-installer/{EMPTY}:v{version}"


def _runs(machine: Machine, version: str, slot: str) -> None:
    assert (machine.version, machine.state.slot) == (f"v{version}", slot)
    assert stage_of(machine) is Stage.RUNNING


def _is_new(client: str) -> bool:
    return VERSIONS.index(client) >= VERSIONS.index("1.13.9")


def _legacy(client: str) -> list[str]:
    return ["--legacy", "--drain=false"] if _is_new(client) else []


def _without_drain(client: str) -> list[str]:
    return ["--drain=false"] if _is_new(client) else []


def drains_before_it_reboots(ask: Talosctl, lab: Lab, target: str) -> None:
    """The installer runs first, then the node is drained, and then it reboots."""
    machine = lab.machine()

    answer = ask("upgrade", "-i", installer(target))

    stdout = answer.stdout + answer.stderr
    assert answer.returncode == 0, stdout[-2000:]
    steps = ("upgrade completed", "node cordoned", "node drained", "post check passed")
    places = [stdout.index(step) for step in (*steps, "node uncordoned")]
    assert places == sorted(places)
    assert machine.version == f"v{target}"
    assert machine.state.pending_install == ""
