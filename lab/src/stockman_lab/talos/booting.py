"""How a machine comes up: firmware, kernel, network, configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.core.timeline import Arguments
from stockman_lab.images.facts import ImageFacts
from stockman_lab.talos import events
from stockman_lab.talos.disk import GRUB, SD_BOOT, STAGED_IMAGE, STAGED_OPTIONS, STATE, TalosDisk
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.sequences import running as sequences
from stockman_lab.talos.services import running as services
from stockman_lab.talos.services.table import CONFIGURED, EARLY
from stockman_lab.talos.state import KubernetesState, NetworkState, Stage

if TYPE_CHECKING:
    from stockman_lab.guest.view import DiskView, GuestView
    from stockman_lab.images.facts import ImageFacts
    from stockman_lab.talos.config.nocloud import PlatformData
    from stockman_lab.talos.machine import Machine


def command_line(machine: Machine, facts: ImageFacts) -> list[str]:
    """Arguments of the image, and of the slot where it is installed."""
    from stockman_lab.factory.kernel_line import Booted, kernel_line

    schematic = machine.land.schematic(facts.schematic)
    booted = Booted(
        platform=facts.platform,
        version=facts.version,
        architecture=facts.architecture,
        secure_boot=facts.secure_boot,
        is_iso=not machine.state.slot,
        extra=schematic.kernel_args if schematic is not None else (),
    )
    return kernel_line(booted).split()


def acquired(machine: Machine, platform: PlatformData) -> bytes:
    """The configuration that a machine begins with. Empty: none."""
    disk = machine.disk
    if disk is not None and machine.state.slot and disk.config:
        text = disk.config
        source = "state"
    elif platform.machine_config is not None:
        text, source = platform.machine_config, machine.state.platform
    else:
        return b""
    return text if _is_usable(machine, text, source) else b""


def _is_usable(machine: Machine, text: bytes, source: str) -> bool:
    from stockman_lab.talos.config.verdict import static_verdict

    verdict = static_verdict(text, machine.minor, machine.mode)
    if verdict.accepted:
        machine.note(f"machine configuration was loaded from {source}")
        return True
    message = verdict.message
    machine.note(f"failed to load machine configuration from {source}: {message}")
    machine.tell("ConfigValidationErrorEvent", {"error": message})
    return False


KERNEL_UP = "talos.kernel.up"
NETWORK_UP = "talos.network.up"
TIME_SYNCED = "talos.time.synced"
_IS_INSTALLED = (
    "Talos is already installed to disk but booted from another media and talos.halt_if_installed"
    " kernel parameter is set. Please reboot from the disk."
)


def power_on(machine: Machine, view: GuestView, late: float) -> None:
    """A virtual machine was switched on or reset: its firmware finds something to boot."""
    disk = view.boot_disk
    if disk is None or disk.facts is None:
        return
    if disk.is_cdrom:
        _begin(machine, view, disk.facts, slot="", kexec=False)
        installed = next((one for one in view.disks if _is_system(one)), None)
        machine.state.system_disk = installed.slot if installed is not None else ""
        if installed is not None:
            machine.state.halted = _IS_INSTALLED
    else:
        slot = _slot(disk, view)
        facts = TalosDisk(disk).facts(slot) or disk.facts
        _begin(machine, view, facts, slot=slot, kexec=False)
        machine.state.system_disk = disk.slot
    seconds = machine.delayed("firmware", "firmware")
    if seconds is not None:
        _plan_kernel(machine, late + seconds)


def kexec(machine: Machine, arguments: Arguments) -> None:
    """Boot the next kernel without going through firmware."""
    del arguments
    view = machine.view
    found = view.disk(machine.state.system_disk)
    if found is None:
        return
    disk = TalosDisk(found)
    slot = disk.default
    facts = disk.facts(slot)
    if facts is None:
        machine.land.reset(machine)
        return
    disk.try_slot()
    system_disk = machine.state.system_disk
    _begin(machine, view, facts, slot=slot, kexec=True)
    machine.state.system_disk = system_disk
    _plan_kernel(machine, machine.seconds("kexec"))


def _is_system(disk: DiskView) -> bool:
    return not disk.is_cdrom and TalosDisk(disk).is_installed


def _slot(disk: DiskView, view: GuestView) -> str:
    """The slot that boots from a disk; one that did not come up last time gives way."""
    talos_disk = TalosDisk(disk)
    if disk.facts is not None:
        talos_disk.adopt_image(disk.facts, SD_BOOT if view.is_uefi else GRUB)
    talos_disk.try_slot()
    return talos_disk.default


def _begin(machine: Machine, view: GuestView, facts: ImageFacts, *, slot: str, kexec: bool) -> None:
    """Forget what was in memory, and begin anew."""
    state, dice = machine.state, machine.land.around.dice
    state.boot += 1
    state.name, state.node = view.name, view.node
    state.stage, state.api, state.halted = Stage.BOOTING, "", ""
    state.version, state.platform = facts.version, facts.platform
    state.schematic, state.architecture = facts.schematic, facts.architecture
    state.secure_boot, state.slot, state.by_kexec = facts.secure_boot, slot, kexec
    state.took_leave = False
    state.boot_id, state.booted_at, state.uuid = dice.uuid(), machine.now, view.smbios.uuid
    state.kernel_at, state.cores, state.memory = machine.now, view.cores, view.memory
    machine.take_config(b"")
    state.trial, state.applies_after_reboot = None, False
    state.platform_config, state.network = {}, NetworkState()
    state.is_time_synced, state.last_status = False, ""
    state.services, state.events, state.kernel_log, state.logs = {}, [], [], {}
    state.sequence, state.installing, state.pending_install = None, False, ""
    state.bootstrap, state.kubernetes = {}, KubernetesState()
    state.images, state.resources, state.planned = {}, {}, set()
    state.cmdline = command_line(machine, facts)


def _plan_kernel(machine: Machine, late: float) -> None:
    seconds = machine.delayed("kernel", "kernel")
    if seconds is not None:
        machine.after(late + seconds, KERNEL_UP)


def kernel_up(machine: Machine, arguments: Arguments) -> None:
    """The kernel runs, and machined with it."""
    del arguments
    state = machine.state
    state.kernel_at = machine.now
    events.note(state, machine.now, f"Command line: {' '.join(state.cmdline)}", kernel=True)
    machine.note(f"booting Talos {state.version}")
    if state.halted:
        machine.note(state.halted)
        return
    disk = machine.disk
    if disk is not None:
        from stockman_lab.talos.pulling import stored_images

        state.images = stored_images(disk)
    sequences.begin(machine, "initialize")
    for kind in EARLY:
        services.start(machine, kind.id)
    seconds = machine.delayed("network", "network")
    if seconds is not None:
        machine.after(seconds, NETWORK_UP)


def network_up(machine: Machine, arguments: Arguments) -> None:
    """Links are up: the platform has been asked, and a configuration was looked for."""
    from stockman_lab.talos import networking

    del arguments
    platform = networking.ask_platform(machine)
    text = acquired(machine, platform)
    if text:
        configure(machine, text)
        return
    networking.set_up(machine, platform)
    enter_maintenance(machine)


def enter_maintenance(machine: Machine) -> None:
    """Wait for somebody who brings a configuration."""
    state = machine.state
    state.sequence, state.failures = None, 0
    state.stage, state.api = Stage.MAINTENANCE, "maintenance"
    machine.note("entering maintenance service")
    machine.note("this machine is reachable at:")
    for address in machine.addresses:
        machine.note(f"\t{address}")
    _sync_time(machine)


def configure(machine: Machine, text: bytes) -> None:
    """A machine has its configuration: it is kept, and the machine goes on."""
    from stockman_lab.talos import networking

    state = machine.state
    machine.take_config(text)
    keep_config(machine, text)
    networking.set_up(machine, networking.ask_platform(machine))
    state.api = ""
    config = machine.config
    for kind in CONFIGURED:
        if machine.is_controlplane or not kind.only_controllers:
            services.start(machine, kind.id)
    _sync_time(machine)
    staged = _taken_staged_image(machine)
    is_wanted = not state.slot and config is not None and config.install is not None
    if is_wanted or staged:
        state.installing = True
        sequences.begin(machine, "install", arguments={"staged": staged})
        return
    sequences.begin(machine, "boot")


def _taken_staged_image(machine: Machine) -> str:
    """The image of an upgrade that waited for this boot, told once. Empty: none waited."""
    disk = machine.disk
    if disk is None or not machine.state.slot:
        return ""
    image, options = disk.take_meta(STAGED_IMAGE), disk.take_meta(STAGED_OPTIONS)
    return image.decode() if image and options else ""


def keep_config(machine: Machine, text: bytes) -> None:
    """Write a configuration to STATE, where there is one."""
    disk = machine.disk
    if disk is not None and machine.state.slot:
        disk.make(STATE)
        disk.config = text


def _sync_time(machine: Machine) -> None:
    if machine.state.is_time_synced:
        return
    config = machine.config
    if config is not None and config.time_disabled:
        machine.state.is_time_synced = True
        return
    seconds = machine.delayed("time", "time")
    if seconds is not None:
        machine.after(seconds, TIME_SYNCED)


def time_synced(machine: Machine, arguments: Arguments) -> None:
    """Time servers answered."""
    del arguments
    machine.state.is_time_synced = True
