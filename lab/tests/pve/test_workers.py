"""Workers begin at once, take their time, and end in a way that can be read."""

from __future__ import annotations

from typing import ClassVar

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve import workers
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Task
from stockman_lab.pve.errors import die
from stockman_lab.pve.workers import Asked, Job, Work, register
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.worlds import NAME, small_world


@register
class Shearing(Work):
    """Takes ten seconds; leaves traces in the options of the cluster."""

    name: ClassVar[str] = "test.shearing"

    def begin(self, job: Job) -> float:
        job.log("catching the sheep")
        if job.text("sheep") == "gone":
            raise die("there is no sheep")
        if job.text("sheep") == "wild":
            job.warn("it kicks")
        job.cluster.state.options["shearing"] = "begun"
        return 10.0

    def finish(self, job: Job) -> None:
        if job.text("sheep") == "slippery":
            raise die("it slipped away\nfor good")
        job.cluster.state.options["shearing"] = "done"

    def abort(self, job: Job) -> None:
        job.cluster.state.options["shearing"] = "aborted"


def begun(sheep: str = "Ada", fault: Fault | None = None) -> tuple[World, Cluster, Task]:
    world = small_world()
    cluster = world.clusters[NAME]
    if fault is not None:
        world.faults.add(fault)
    host = cluster.state.hosts["pve1"]
    asked = Asked("shear", "100", "root@pam", "test.shearing", {"sheep": sheep})
    upid = workers.start(cluster, host, asked)
    return world, cluster, cluster.state.tasks[upid]


def test_the_upid_has_the_form_of_the_real_one() -> None:
    _, _, task = begun()
    upid = task.upid.split(":")
    assert len(upid) == 9
    assert upid[:2] == ["UPID", "pve1"]
    assert upid[5:8] == ["shear", "100", "root@pam"]
    assert all(part == part.upper() for part in upid[2:5])


def test_it_runs_until_its_time_is_over() -> None:
    world, cluster, task = begun()
    world.advance(9.9)
    assert task.is_running
    assert cluster.state.options["shearing"] == "begun"
    world.advance(0.2)
    assert (task.exit_status, cluster.state.options["shearing"]) == ("OK", "done")
    assert task.log == ["catching the sheep", "TASK OK"]


def test_a_failure_at_the_beginning_ends_it() -> None:
    _, cluster, task = begun("gone")
    assert task.exit_status == "there is no sheep"
    assert task.log[-1] == "TASK ERROR: there is no sheep"
    assert cluster.state.options["shearing"] == "aborted"


def test_a_failure_at_the_end_is_cleaned_up_and_told_on_one_line() -> None:
    world, cluster, task = begun("slippery")
    world.settle()
    assert task.exit_status == "it slipped away for good"
    assert cluster.state.options["shearing"] == "aborted"


def test_warnings_are_counted() -> None:
    world, _, task = begun("wild")
    world.settle()
    assert task.exit_status == "WARNINGS: 1"
    assert task.log[-2:] == ["WARN: it kicks", "TASK WARNINGS: 1"]


def test_a_stopped_worker_ends_with_an_unexpected_status() -> None:
    world, cluster, task = begun()
    workers.stop(cluster, task.upid)
    world.settle()
    assert (task.exit_status, cluster.state.options["shearing"]) == ("unexpected status", "aborted")


def test_a_saved_world_goes_on_with_its_workers() -> None:
    world, _, task = begun()
    again = World(read_world(world_file(world.state)))
    again.settle()
    state = again.clusters[NAME].state
    assert state.tasks[task.upid].exit_status == "OK"
    assert state.options["shearing"] == "done"


@pytest.mark.parametrize(
    ("effect", "status", "left"),
    [
        (Effect.FAIL, "got timeout", "aborted"),
        (Effect.DO_THEN_FAIL, "got timeout", "done"),
        (Effect.CLAIM, "OK", "begun"),
    ],
)
def test_faults_make_it_fail_lie_or_claim(effect: Effect, status: str, left: str) -> None:
    fault = Fault(Point.TASK, effect, {"type": "shear"}, message="got timeout")
    world, cluster, task = begun(fault=fault)
    world.settle()
    assert (task.exit_status, cluster.state.options["shearing"]) == (status, left)


def test_a_fault_can_delay_it() -> None:
    world, _, task = begun(fault=Fault(Point.TASK, Effect.DELAY, seconds=100))
    world.advance(109)
    assert task.is_running
    world.advance(2)
    assert task.exit_status == "OK"


def test_a_fault_can_make_it_hang() -> None:
    world, _, task = begun(fault=Fault(Point.TASK, Effect.HANG))
    world.settle()
    world.advance(1e6)
    assert task.is_running


def test_workers_of_a_host_without_power_end_without_cleaning_up() -> None:
    world, cluster, task = begun()
    workers.power_lost(cluster, cluster.state.hosts["pve1"])
    world.settle()
    assert (task.exit_status, cluster.state.options["shearing"]) == ("unexpected status", "begun")
