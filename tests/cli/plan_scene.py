"""A plan that adds, changes and removes, with everything that a view of it can show."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from stockman.model.problem import Problem, Severity
from stockman.model.record import record
from stockman.planning.change import Change, ChangeKind
from stockman.steps.step import Retry, Stage
from tests.engine.toys import Exists, Flag, Make, make, plan_of


@record
class Drop(Make):
    """Take an object away for good."""

    kind: ClassVar[str] = "test.drop"

    @property
    def summary(self) -> str:
        return f"drop {self.key}"

    @property
    def destroys(self) -> str:
        return f"VM {self.key} with its disks"


RED = Flag(name="red")
FETCH = replace(
    make("images/fetch/pve1", seconds=90.0, retry=Retry(attempts=1)), stage=Stage.IMAGES
)
CREATE = make(
    "vms/create/cp-1",
    FETCH.id,
    reason="cp-1 is in the configuration, and VMID 1030 is free",
    gates=(Exists(key="room"),),
    holds=(RED,),
    lanes=("host/pve1", "storage/ceph"),
    node="cp-1",
    seconds=40.0,
)
DESTROY = make(
    "vms/destroy/work-3",
    action=Drop(key="1033 (work-3)"),
    holds=(RED,),
    lanes=("host/pve1",),
    node="work-3",
)
CONFIGURE = replace(
    make("talos/configure/cp-1", CREATE.id, node="cp-1", seconds=200.0), stage=Stage.TALOS
)
PLAN = plan_of(FETCH, CREATE, DESTROY, CONFIGURE, lanes={"storage/ceph": 4})
CHANGES = (
    Change(
        what="image 1.13.9 on pve1", why="cp-1 boots it", mark=ChangeKind.ADD, stage=Stage.IMAGES
    ),
    Change(
        what="VM 1030 (cp-1) on pve1: 4 cores, 8192 MiB",
        why=CREATE.reason,
        mark=ChangeKind.ADD,
        stage=Stage.VMS,
        node="cp-1",
    ),
    Change(
        what="VM 1033 (work-3) on pve1",
        why="work-3 is not in the configuration any more",
        mark=ChangeKind.REMOVE,
        stage=Stage.VMS,
        destroys="VM 1033 (work-3) with its disks",
        node="work-3",
    ),
    Change(
        what="pool flock has 2 members instead of 3",
        why="members are cp-1 and work-1",
        mark=ChangeKind.CHANGE,
        stage=Stage.VMS,
    ),
    Change(
        what="cp-1 gets its first configuration, as a controller",
        why="it is in maintenance mode",
        mark=ChangeKind.ADD,
        stage=Stage.TALOS,
        node="cp-1",
    ),
)
WARNING = Problem(
    code="vm.identity", what="pve2 is full", why="x", fix="y", severity=Severity.WARNING
)
