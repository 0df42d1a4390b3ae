"""Upgrades in both ways: with a guard and a reboot, and since 1.13 without either."""

from __future__ import annotations

from collections.abc import AsyncIterator

from stockman.talos.api.transport import GrpcCode
from stockman_lab.core.faults import Effect
from stockman_lab.etcd import quorum
from stockman_lab.talos import acting, etcd_member
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, method, streamed
from stockman_lab.talos.disk import META, STAGED_IMAGE, STAGED_OPTIONS
from stockman_lab.talos.pulling import PullFailed, pull
from stockman_lab.talos.sequences.installing import facts_of, lacking_room, preflight
from stockman_lab.talos.state import Stage, StoredImage

_MACHINE, _LIFECYCLE = "machine.MachineService", "machine.LifecycleService"
_POWERCYCLE = 1
_PAIR = 2
_BUSY = "another installation/upgrade is already in progress"
_FREED_FROM = {"1.12": 9, "1.13": 4, "1.14": 0}
"""First patches that let `preserve` go without the guard."""
_EXIT_PREFLIGHT, _EXIT_INSTALL = 3, 7


@method(_MACHINE, "Upgrade")
async def upgrade(call: Call) -> Fields:
    """Look at the image and at etcd, and begin; the machine boots when it is done."""
    machine, request = call.machine, call.request
    disk = machine.disk
    if disk is None or not disk.is_installed:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "Talos is not installed")
    if machine.state.installing:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, _BUSY)
    machine.state.installing = True
    try:
        image = await _validate_image(call)
        if machine.is_controlplane and not request.force and not _is_freed(call):
            _guard(call)
    finally:
        machine.state.installing = False
    options = {"powercycle"} if request.reboot_mode == _POWERCYCLE else set()
    if request.stage:
        options.add("stage")
        disk.write_meta(STAGED_IMAGE, image.name.encode())
        disk.write_meta(STAGED_OPTIONS, b"{}")
    actor = acting.upgrade(machine, image, frozenset(options))
    return {"ack": "Upgrade request received", "actor_id": actor}


async def _validate_image(call: Call) -> StoredImage:
    machine = call.machine
    fault = machine.step_fault("pull")
    if fault is not None and fault.effect is Effect.FAIL:
        raise Refusal(
            GrpcCode.UNKNOWN,
            f"error validating installer image {_quote(call.request.image)}: {fault.message}",
        )
    if fault is not None and fault.effect is Effect.HANG:
        while True:
            await call.changed()
    await call.sleep(machine.seconds("pull") + (fault.seconds if fault is not None else 0.0))
    try:
        pulled = pull(machine, call.request.image, "system")
    except PullFailed as failed:
        await call.sleep(failed.seconds)
        raise Refusal(
            GrpcCode.UNKNOWN,
            f"error validating installer image {_quote(call.request.image)}: {failed}",
        ) from None
    await call.sleep(pulled.seconds)
    image = pulled.image
    if not image.platform:
        raise Refusal(
            GrpcCode.UNKNOWN,
            f"error validating installer image {_quote(call.request.image)}: exit code 127",
        )
    return image


def _quote(text: str) -> str:
    return f'"{text}"'


def _is_freed(call: Call) -> bool:
    """Whether the guard is off because the caller wants to keep data."""
    first = _FREED_FROM.get(call.minor)
    patch = int(call.machine.version.rpartition(".")[2].partition("-")[0])
    return bool(call.request.preserve) and first is not None and patch >= first


def _guard(call: Call) -> None:
    """Refuse an upgrade that etcd would not survive; who else upgrades is not looked at."""
    cluster = next(etcd_member.clusters_alive(call.machine), None)
    alive = etcd_member.alive(call.land, cluster) if cluster is not None else set()
    if cluster is None or not quorum.has_quorum(cluster, alive):
        raise Refusal(
            GrpcCode.UNKNOWN, "failed to acquire upgrade mutex: context deadline exceeded"
        )
    if len(cluster.members) == _PAIR:
        raise _unsafe(
            "etcd member count(2) is insufficient to maintain quorum if upgrade commences"
        )
    for key, member in cluster.members.items():
        if not member.name:
            raise _unsafe(
                f"etcd member {key} is not started, all members must be running to perform an"
                " upgrade"
            )
        if key not in alive:
            raise _unsafe(
                f"etcd member {key} is not healthy; all members must be healthy to perform an"
                " upgrade: context deadline exceeded"
            )


def _unsafe(why: str) -> Refusal:
    return Refusal(GrpcCode.UNKNOWN, f"error validating etcd for upgrade: {why}")


@streamed(_LIFECYCLE, "Upgrade", since="1.13")
async def lifecycle_upgrade(call: Call) -> AsyncIterator[Fields]:
    """Run an installer that was pulled; nothing reboots, and nobody looks at etcd."""
    machine = call.machine
    disk = machine.disk
    if disk is None or not disk.is_installed:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "machine is not installed")
    async for progress in _install(call):
        yield progress


@streamed(_LIFECYCLE, "Install", since="1.13")
async def lifecycle_install(call: Call) -> AsyncIterator[Fields]:
    """Install from a medium."""
    disk = call.machine.disk
    if disk is not None and disk.is_installed:
        raise Refusal(GrpcCode.ALREADY_EXISTS, "machine is already installed")
    from stockman_lab.talos.disks import disk_at

    wanted = call.request.destination.disk
    found = disk_at(call.machine.view, wanted)
    if found is None or found.is_cdrom:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, f"disk {wanted!r} not found")
    async for progress in _install(call, found.slot):
        yield progress


async def _install(call: Call, slot: str = "") -> AsyncIterator[Fields]:
    machine = call.machine
    if machine.state.installing:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, _BUSY)
    name = call.request.source.image_name
    image = machine.state.images.get(_namespace(call), {}).get(name)
    if image is None:
        what = "installation" if slot else "upgrade"
        raise Refusal(
            GrpcCode.INTERNAL,
            f"{what} failed: installer image {_quote(name)} not found in containerd store:"
            f" image {_quote(name)}: not found",
        )
    machine.state.installing = True
    call.land.changed()
    try:
        async for line, code in _run(call, image, slot):
            yield {"progress": {"message": line} if code is None else {"exit_code": code}}
    finally:
        machine.state.installing = False
        call.land.changed()


async def _run(call: Call, image: StoredImage, slot: str) -> AsyncIterator[tuple[str, int | None]]:
    machine = call.machine
    yield f"running Talos installer {image.version}", None
    refusal = preflight(machine, image) if not slot else ""
    if refusal:
        yield f"Error: pre-flight checks failed: {refusal}", None
        yield "", _EXIT_PREFLIGHT
        return
    fault = machine.step_fault("upgrade", sequence="lifecycle")
    late = fault.seconds if fault is not None else 0.0
    if fault is not None and fault.effect is Effect.HANG:
        while True:
            await call.changed()
    yield "installation of the new version is in progress", None
    await call.sleep(machine.seconds("write") + late)
    why = "" if slot else lacking_room(machine, image)
    if fault is not None and fault.effect is Effect.FAIL:
        why = fault.message or "failed to write the boot entry"
    if why:
        yield f"Error: {why}", None
        yield "", _EXIT_INSTALL
        return
    _write(call, image, slot)
    yield "installation complete", None
    yield "", 0


def _write(call: Call, image: StoredImage, slot: str) -> None:
    from stockman_lab.talos.disk import GRUB, SD_BOOT, STATE, TalosDisk

    machine = call.machine
    if slot:
        view = machine.view
        found = view.disk(slot)
        if found is None:
            return
        disk = TalosDisk(found)
        disk.install(facts_of(machine, image), SD_BOOT if view.is_uefi else GRUB, trial=False)
        disk.make(META)
        machine.state.system_disk = slot
        if machine.state.config:
            disk.make(STATE)
            disk.config = machine.state.config
    elif machine.disk is not None:
        machine.disk.install(facts_of(machine, image), machine.disk.bootloader)
    machine.state.pending_install = image.version
    if machine.state.stage is Stage.RUNNING:
        machine.note(f"Talos {image.version} was installed, reboot to use it")


def _namespace(call: Call) -> str:
    return "system" if call.request.containerd.namespace == 1 else "k8s.io"
