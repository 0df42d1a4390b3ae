"""Runs, lock and Lease on what the lab simulates: object storage and an API server."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from stockman_lab.core.faults import Effect
from stockman_lab.servers.port import WorldClock

from stockman.engine.executor import RunOutcome
from stockman.engine.lifecycle import RunHome, start_run
from stockman.engine.lock import ClusterLease, LockHolder
from stockman.engine.object_lock import ObjectLock
from stockman.engine.runs import ObjectRunStore
from stockman.engine.state import RunResult
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import NAMESPACES
from stockman.model.errors import Refused, StockmanError
from stockman.steps.ports import Ports
from tests.contract.kubernetes.doors import NOW, Stage
from tests.contract.kubernetes.doors import memory as api_server
from tests.contract.objects.doors import Scene, memory
from tests.engine.simulated import MORNING, Dice, JumpClock
from tests.engine.toys import Exists, make, plan_of, way

PLAN = plan_of(make("a"), make("b"), make("c", "a", "b", gates=(Exists(key="b"),)))


def in_world(scene: Scene) -> tuple[RunHome, Ports]:
    assert scene.world is not None
    clock = WorldClock(scene.world)
    home = RunHome(
        runs=ObjectRunStore(scene.objects, clock),
        lock=ObjectLock(scene.objects, clock, "s3://flock"),
    )
    return home, Ports(clock=clock, entropy=Dice(), objects=scene.objects)


def test_a_run_is_carried_out_and_written_down_in_a_simulated_bucket() -> None:
    async def story(scene: Scene) -> tuple[RunOutcome, list[str]]:
        home, ports = in_world(scene)
        outcome = await start_run(home, PLAN, ports, way())
        return outcome, [one.key for one in await scene.objects.list_objects()]

    outcome, keys = memory(story)

    assert outcome.result is RunResult.DONE
    assert {"a", "b", "c", "lock/000001.json", f"runs/{outcome.state.run}/plan.json"} <= set(keys)


@pytest.mark.parametrize("spared", range(0, 40, 3))
def test_a_connection_that_is_cut_anywhere_is_overcome(spared: int) -> None:
    async def story(scene: Scene) -> RunResult:
        home, ports = in_world(scene)
        scene.let(Effect.CUT, times=2, skip=spared)
        with suppress(StockmanError):
            await start_run(home, PLAN, ports, way())
        await ports.clock.sleep(120)
        return (await start_run(home, PLAN, ports, way())).result

    assert memory(story) is RunResult.DONE


async def no_runs() -> tuple[str, ...]:
    """The home of a lock that knows nobody."""
    return ()


HOLDER = LockHolder(name="anna", run="run-1", nonce="a")


def test_the_lease_is_held_in_the_cluster_and_keeps_others_away() -> None:
    async def story(kubernetes: KubernetesClient, stage: Stage) -> str:
        clock = JumpClock()
        clock.jump(NOW - MORNING.timestamp())
        await kubernetes.create(NAMESPACES, {"metadata": {"name": "kube-system"}})
        await ClusterLease(kubernetes, clock, HOLDER, no_runs).check()
        cluster_lease = ClusterLease(kubernetes, clock, replace(HOLDER, nonce="b"), no_runs)
        with pytest.raises(Refused, match=r"lock\.lost"):
            await cluster_lease.check()
        held = await kubernetes.lease("kube-system", "stockman")
        assert held.renewed is not None
        assert held.renewed + timedelta(seconds=held.seconds) > clock.now()
        return held.holder

    assert api_server(story) == "run-1-a"
