"""Faults of a run: what goes wrong, where it strikes, and what is expected of the product.

Numbers are those of the fault matrix. A row begins with a scene, arranges a fault, lives once,
takes the fault back, and lives again; the second life has to finish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stockman_lab.core.faults import Effect, Point

from stockman.app.runs.plans import PlanOptions
from tests.acceptance.fault_scenes import (
    VMS,
    another_boot,
    another_controller,
    another_number,
    another_size,
    bootstrap,
    one_less,
    one_less_busy,
    one_more,
    worn_files,
)
from tests.acceptance.scene import PUSHING, Life, Scene
from tests.acceptance.troubles import (
    Meddling,
    fault,
    host_dies,
    host_returns,
    made_anew,
    root_does,
    shared_address_moves,
    storage_has_room,
    storage_is_full,
    switch_off,
    torn_journal,
    uncordon,
    wrong_image,
)

_REBOOT = "MachineService/Reboot"
_OWN = "stockman@pve!stockman"


@dataclass(frozen=True)
class Row:
    """One fault."""

    number: str
    what: str
    scene: Callable[[Path], Scene]
    arrange: Callable[[Scene], None] | None = None
    kill: str = ""
    """Where the product is killed. Empty: nowhere."""
    first: str = "done"
    """`done` in spite of it, `stops` or `killed`."""
    why: str = ""
    """Code of the problem that a run stops with, or the beginning of it."""
    wish: PlanOptions = PUSHING
    breaks: bool = False
    """Whether machines are taken away, so that etcd and the API may suffer."""
    relieve: Callable[[Scene], None] | None = None
    """None: the faults are taken back."""
    then: str = "resume"
    again: str = ""
    """What the lab has to see once more, as the first time was for nothing."""
    writes_nothing: bool = False
    """Whether nothing may have been written but our own books before it stopped."""
    meddling: Meddling | None = None
    """What somebody else does in the middle of the first life. None: nothing."""
    flaws: Callable[[Scene], list[str]] | None = None
    """What is wrong in the end. None: nothing else is looked at."""


def machines_booted_twice(scene: Scene) -> list[str]:
    """Reboots that were ordered more than once."""
    orders = [
        str(call) for process in scene.processes for call in process.calls if _REBOOT in call.what
    ]
    return [] if len(orders) == 1 else orders


def still_worn(scene: Scene) -> list[str]:
    """Client files that were not renewed."""
    wanted = {f"talos/client-file/{name}" for name in ("talosconfig", "kubeconfig")}
    return sorted(wanted - {step.id for step in scene.last_plan.steps})


ROWS = (
    Row("F1", "killed before the first entry", bootstrap, kill="before journal plan",
        first="killed", wish=VMS, then="apply", writes_nothing=True),
    Row("F2", "killed between intent and cordon", one_less, kill="before PATCH /api/v1/nodes/",
        first="killed"),
    Row("F3", "killed after the cordon", one_less, kill="after PATCH /api/v1/nodes/",
        first="killed"),
    Row("F4", "killed in the middle of a drain", one_less_busy, kill="after eviction",
        first="killed"),
    Row("F6", "killed while a machine boots into its configuration", another_boot,
        kill=f"after {_REBOOT}", first="killed", flaws=machines_booted_twice),
    Row("F6b", "the same, and a new plan", another_boot, kill=f"after {_REBOOT}", first="killed",
        then="apply", flaws=machines_booted_twice),
    Row("F7", "killed before the cordon is given back", one_less, kill="before released",
        first="killed"),
    Row("F7b", "the same, and a new plan", one_less, kill="before released", first="killed",
        then="apply"),
    Row("F8", "killed after stopping a VM, before deleting it", one_less,
        kill="before DELETE /nodes/neo/qemu/1033", first="killed"),
    Row("F9", "killed after deleting a VM, before making it", another_number,
        kill="before POST /nodes/neo/qemu", first="killed"),
    Row("F10", "killed after the task that makes a VM began", bootstrap,
        kill="after POST /nodes/neo/qemu", first="killed", wish=VMS),
    Row("F10b", "the same, and a new plan", bootstrap, kill="after POST /nodes/neo/qemu",
        first="killed", wish=VMS, then="apply"),
    Row("F10c", "killed after the task that copies a disk began", bootstrap,
        kill="after POST /nodes/neo/qemu/1031/config", first="killed", wish=VMS),
    Row("F10d", "the same, and a new plan", bootstrap,
        kill="after POST /nodes/neo/qemu/1031/config", first="killed", wish=VMS, then="apply"),
    Row("F11", "killed between configuration and join", one_more,
        kill="after POST /nodes/neo/qemu/1033/status/start", first="killed"),
    Row("F12", "killed after a member left etcd, before the new one joined", another_controller,
        kill="after EtcdLeaveCluster", first="killed"),
    Row("F13", "killed while cleaning up", bootstrap, kill="before lock release",
        first="killed", wish=VMS, then="apply"),
    Row("F15", "the last entry is torn", bootstrap, kill="after POST /nodes/neo/qemu",
        first="killed", wish=VMS, relieve=torn_journal),
    Row("F16", "a task fails for a lock", bootstrap,
        fault(Point.TASK, Effect.FAIL, match={"type": "qmcreate"},
              message="can't lock file '/var/lock/qemu-server/lock-1030.conf' - got timeout"),
        wish=VMS),
    Row("F16b", "a host kills workers before they start", bootstrap,
        fault(Point.REQUEST, Effect.FAIL, match={"path": "/nodes/*/qemu/*/status/start"},
              status=500, message="got no worker upid - start worker failed", times=2),
        wish=VMS),
    Row("F17", "a task says that it failed, and the VM runs", bootstrap,
        fault(Point.TASK, Effect.DO_THEN_FAIL, match={"type": "qmstart"}), first="any", wish=VMS),
    Row("F18", "a task says OK, and there is no VM", bootstrap,
        fault(Point.TASK, Effect.CLAIM, match={"type": "qmcreate", "vmid": "1031"}),
        again="task qmcreate 1031",
        first="stops", wish=VMS),
    Row("F19", "the token is not believed for a while", one_more,
        fault(Point.AUTHENTICATE, Effect.FAIL, match={"user": _OWN}, times=None), first="stops",
        why="proxmox."),
    Row("F20", "nobody answers some requests", bootstrap,
        fault(Point.REQUEST, Effect.FAIL, match={"method": "GET", "path": "/nodes/*"}, status=596,
              times=3, skip=4), wish=VMS),
    Row("F20b", "an order is carried out and its answer is lost", bootstrap,
        fault(Point.REQUEST, Effect.DO_THEN_CUT, match={"method": "POST", "path": "/nodes/*/qemu"},
              times=2), wish=VMS),
    Row("F21", "the hosts have no quorum", one_more,
        fault(Point.QUORUM, Effect.FAIL, times=None), first="stops"),
    Row("F22", "a host is dead when a VM is to be made there", one_more, host_dies("neo"),
        first="stops", breaks=True, relieve=host_returns("neo"), then="apply"),
    Row("F22b", "a host dies while the disk of a VM is copied", one_more,
        fault(Point.TASK, Effect.KILL, match={"type": "qmconfig", "vmid": "1033"}),
        first="stops", breaks=True, relieve=host_returns("neo")),
    Row("F22c", "the same, and a new plan", one_more,
        fault(Point.TASK, Effect.KILL, match={"type": "qmconfig", "vmid": "1033"}),
        first="stops", breaks=True, relieve=host_returns("neo"), then="apply"),
    Row("F22d", "a host dies while it makes VMs larger", bootstrap,
        fault(Point.TASK, Effect.KILL, match={"type": "resize", "node": "neo"}),
        first="stops", relieve=host_returns("neo"), wish=VMS),
    Row("F23", "a guest does not care about being shut down", another_size,
        fault(Point.SHUTDOWN, Effect.HANG, times=None)),
    Row("F24", "a foreign VM has the number", bootstrap,
        root_does("POST", "/nodes/neo/qemu", vmid=1031, name="billing-db", memory=512),
        first="stops", why="vm.taken", wish=VMS, writes_nothing=True,
        relieve=root_does("DELETE", "/nodes/neo/qemu/1031"), then="apply",
        again="task qmcreate 1031"),
    Row("mac", "a card of a foreign VM has the address of ours", bootstrap,
        root_does("POST", "/nodes/neo/qemu", vmid=500, name="printer", memory=512,
                  net0="virtio=BC:24:11:03:00:17,bridge=vmbr0"),
        first="stops", why="vm.mac-taken", wish=VMS, writes_nothing=True,
        relieve=root_does("DELETE", "/nodes/neo/qemu/500"), then="apply"),
    Row("job", "a Job that installs a chart fails", bootstrap,
        fault(Point.POD, Effect.FAIL, match={"pod": "stockman-install-coredns*", "action": "run"},
              times=None), first="stops", why="kube.install-failed"),
    Row("F25", "the storage is full", bootstrap, storage_is_full, first="stops", wish=VMS,
        writes_nothing=True, relieve=storage_has_room, then="apply"),
    Row("F26", "an image arrives cut", bootstrap,
        fault(Point.DOWNLOAD, Effect.CORRUPT, message="truncated"), first="any", wish=VMS),
    Row("F27", "a VM never boots", one_more,
        fault(Point.BOOT, Effect.HANG, match={"vmid": "1033"}, times=None), first="stops",
        relieve=switch_off, then="apply"),
    Row("F28", "a VM boots another Talos than its image should have", one_more,
        wrong_image, first="stops", why="node.image", relieve=made_anew, then="apply",
        again="task qmcreate 1033"),
    Row("F65", "something that follows Git undoes the cordon in the middle of a drain",
        one_less_busy, meddling=Meddling("after eviction", uncordon), first="stops",
        why="kube.uncordoned"),
    Row("F68", "certificates of clients are about to end", worn_files, flaws=still_worn),
    Row("F69", "hosts find no address for any name", bootstrap,
        fault(Point.REQUEST, Effect.FAIL, match={"path": "/nodes/*/query-url-metadata"},
              status=500, message="Can't connect to factory.talos.dev:443 (Name or service not"
              " known)", times=None), wish=VMS),
    Row("F70", "the machine with the shared address is cut off for a minute", one_more,
        shared_address_moves, breaks=True),
)  # fmt: skip


NOT_HERE = {
    "F5": "`apply` never installs over a Talos that runs: another version is refused, and left to"
    " `upgrade` (tests/planning/test_talos_planning.py)",
    "F14": "`apply` runs outside of the cluster, so no drain can move it; the runner that lives"
    " inside comes with a part of its own",
}
"""Faults that cannot strike `apply`, or are tried elsewhere, and why."""


def ending_of(life: Life) -> str:
    """How a first life ended, in the words of rows."""
    if life.was_killed:
        return "killed"
    return "done" if life.is_done else "stops"
