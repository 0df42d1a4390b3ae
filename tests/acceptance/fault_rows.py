"""Faults of a run: what goes wrong, where it strikes, and what is expected of the product.

Numbers are those of the fault matrix. A row begins with a scene, arranges a fault, lives once,
takes the fault back, and lives again; the second life has to finish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stockman.app.plans import PlanWish
from stockman.lab.core.faults import Effect, Fault, Point
from stockman.lab.doors.kube_port import memory_kubernetes
from stockman.lab.doors.memory import MemoryDoor
from stockman.lab.pve.host_power import give_power, lose_power
from stockman.ports.kubernetes.kinds import DEPLOYMENTS
from tests.acceptance.loop import in_world
from tests.acceptance.reference import reference, scaled_up
from tests.acceptance.scene import PUSHING, WORKER, Life, Scene

VMS = PlanWish(until="vms", push=True)
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
    wish: PlanWish = PUSHING
    breaks: bool = False
    """Whether machines are taken away, so that etcd and the API may suffer."""
    relieve: Callable[[Scene], None] | None = None
    """None: the faults are taken back."""
    then: str = "resume"
    again: str = ""
    """What the lab has to see once more, as the first time was for nothing."""
    writes_nothing: bool = False
    """Whether nothing may have been written but our own books before it stopped."""


def bootstrap(root: Path) -> Scene:
    """Nothing but hosts."""
    return Scene.made(root)


def one_more(root: Path) -> Scene:
    """A cluster that works, and one more worker is wanted."""
    scene = reference().scene(root)
    scene.files.append("nodes.yaml", WORKER)
    return scene


def one_less(root: Path) -> Scene:
    """A cluster with five nodes, and one worker is wanted no more."""
    scene = scaled_up().scene(root)
    scene.files.edit("nodes.yaml", WORKER, "")
    return scene


def one_less_busy(root: Path) -> Scene:
    """The same, and pods run on that worker."""
    scene = one_less(root)
    cluster = scene.world.kubernetes.cluster_of(next(iter(scene.world.talos.machines)))
    assert cluster is not None
    pod = {
        "nodeSelector": {"kubernetes.io/hostname": "talos-tank"},
        "containers": [{"name": "web", "image": "example.org/web:1"}],
    }
    web = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod},
        },
    }
    made = memory_kubernetes(cluster.api).create(DEPLOYMENTS, web)
    in_world(scene.world, made)
    scene.world.advance(120.0)
    return scene


def another_number(root: Path) -> Scene:
    """A worker whose VM is made anew under another number."""
    scene = scaled_up().scene(root)
    scene.files.edit("nodes.yaml", "vmid: 1033", "vmid: 1035")
    return scene


def another_controller(root: Path) -> Scene:
    """A controller whose VM is made anew under another number."""
    scene = scaled_up().scene(root)
    scene.files.edit("nodes.yaml", "vmid: 1034", "vmid: 1036")
    return scene


def fault(point: Point, effect: Effect, **more: object) -> Callable[[Scene], None]:
    """Lets something go wrong in the world; what is matched is given as `match`."""

    def arrange(scene: Scene) -> None:
        scene.world.faults.add(Fault(point=point, effect=effect, **more))  # type: ignore[arg-type]  # by name
        scene.world.strike()

    return arrange


def root_does(method: str, path: str, **params: object) -> Callable[[Scene], None]:
    """Somebody else does something in Proxmox VE."""

    def arrange(scene: Scene) -> None:
        MemoryDoor(scene.world, "k8s").call(method, path, **params)
        scene.world.settle()

    return arrange


def taken_back(scene: Scene) -> None:
    """The faults are over."""
    for one in list(scene.world.faults.listed):
        scene.world.take_back(one.number)
    scene.world.advance(120.0)


def storage_is_full(scene: Scene) -> None:
    pool = scene.world.clusters["k8s"].state.pools
    for one in pool.values():
        one.other = one.size


def storage_has_room(scene: Scene) -> None:
    for one in scene.world.clusters["k8s"].state.pools.values():
        one.other = 0


def host_dies(name: str) -> Callable[[Scene], None]:
    def arrange(scene: Scene) -> None:
        cluster = scene.world.clusters["k8s"]
        lose_power(cluster, cluster.state.hosts[name])

    return arrange


def host_returns(name: str) -> Callable[[Scene], None]:
    def relieve(scene: Scene) -> None:
        cluster = scene.world.clusters["k8s"]
        give_power(cluster, cluster.state.hosts[name])
        scene.world.advance(900.0)

    return relieve


def torn_journal(scene: Scene) -> None:
    run = max(scene.kept.journals)
    scene.kept.journals[run] += b'[{"number":99,"at":"20'


def nothing(scene: Scene) -> None:
    del scene


def switched_off(scene: Scene) -> None:
    """Somebody switches a VM off that hangs."""
    taken_back(scene)
    MemoryDoor(scene.world, "k8s").post("/nodes/neo/qemu/1033/status/stop")
    scene.world.advance(120.0)


ROWS = (
    Row("F1", "killed before the first entry", bootstrap, kill="before journal plan",
        first="killed", wish=VMS, then="apply", writes_nothing=True),
    Row("F2", "killed between intent and cordon", one_less, kill="before PATCH /api/v1/nodes/",
        first="killed"),
    Row("F3", "killed after the cordon", one_less, kill="after PATCH /api/v1/nodes/",
        first="killed"),
    Row("F4", "killed in the middle of a drain", one_less_busy, kill="after eviction",
        first="killed"),
    Row("F7", "killed before the cordon is given back", one_less, kill="before released",
        first="killed"),
    Row("F8", "killed after stopping a VM, before deleting it", one_less,
        kill="before DELETE /nodes/neo/qemu/1033", first="killed"),
    Row("F9", "killed after deleting a VM, before making it", another_number,
        kill="before POST /nodes/neo/qemu", first="killed"),
    Row("F10", "killed after the task that makes a VM began", bootstrap,
        kill="after POST /nodes/neo/qemu", first="killed", wish=VMS),
    Row("F10b", "the same, and a new plan", bootstrap, kill="after POST /nodes/neo/qemu",
        first="killed", wish=VMS, then="apply"),
    Row("F11", "killed between configuration and join", one_more,
        kill="after ApplyConfiguration", first="killed"),
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
    Row("F22", "a host dies while a VM is made there", one_more, host_dies("neo"), first="stops",
        breaks=True, relieve=host_returns("neo"), then="apply"),
    Row("F23", "a guest does not care about being shut down", one_less,
        fault(Point.SHUTDOWN, Effect.HANG, times=None)),
    Row("F24", "a foreign VM has the number", bootstrap,
        root_does("POST", "/nodes/neo/qemu", vmid=1031, name="billing-db", memory=512),
        first="stops", why="vm.taken", wish=VMS, writes_nothing=True,
        relieve=root_does("DELETE", "/nodes/neo/qemu/1031"), then="apply",
        again="task qmcreate 1031"),
    Row("F25", "the storage is full", bootstrap, storage_is_full, first="stops", wish=VMS,
        writes_nothing=True, relieve=storage_has_room, then="apply"),
    Row("F26", "an image arrives cut", bootstrap,
        fault(Point.DOWNLOAD, Effect.CORRUPT, message="truncated"), first="any", wish=VMS),
    Row("F27", "a VM never boots", one_more,
        fault(Point.BOOT, Effect.HANG, match={"vmid": "1033"}, times=None), first="stops",
        relieve=switched_off, then="apply"),
    Row("F70", "the machine with the shared address is cut off for a minute", one_more,
        fault(Point.NETWORK, Effect.FAIL, match={"machine": "talos-trinity"}, until=0.0,
              times=None), breaks=True, first="any"),
)  # fmt: skip


NOT_HERE = {
    "F5": "only `upgrade` installs another version",
    "F6": "reboots into a configuration are killed in tests/steps/test_talos_actions.py",
    "F14": "the runner inside the cluster is not part of `apply`",
    "F28": "machines of another version or cluster: tests/planning/test_talos_planning.py",
    "F65": "nothing of Flux is suspended by `apply`",
    "F68": "client certificates are issued by the run itself, for its own time",
    "F69": "all doors are dialled by address; only git and the factory have names",
}
"""Faults that cannot strike `apply`, or are tried elsewhere, and why."""


def lived(row: Row, scene: Scene, life: Life) -> str:
    """How a first life ended, in the words of rows."""
    del row, scene
    if life.was_killed:
        return "killed"
    return "done" if life.is_done else "stops"
