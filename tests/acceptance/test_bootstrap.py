"""From two files to a cluster that works, on every version; and the second run changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.world.world import World

from stockman.app.runs.plans import PlanOptions
from stockman.engine.state import RunResult
from stockman.steps.step import Stage
from tests.acceptance.fingerprint import difference, fingerprint
from tests.acceptance.lab_log import done_with_effect, written_by
from tests.acceptance.reference import bootstrap_reference, reference
from tests.acceptance.scene import Scene, Versions

COVERING = (
    Versions("1.11.5", "8.4"),
    Versions("1.12.3", "9.1"),
    Versions("1.13.9", "9.1"),
    Versions("1.14.1", "8.4"),
)
"""Every minor of Talos and every Proxmox VE; `make soak` has all pairs."""
OWN_BOOKKEEPING = {"journal", "lock"}
_LEASE = "/registry/leases/kube-system/stockman"


@pytest.mark.parametrize("versions", COVERING, ids=str)
def test_a_cluster_comes_up_and_a_second_run_writes_nothing(
    versions: Versions, tmp_path: Path
) -> None:
    scene = bootstrap_reference(versions).scene(tmp_path)
    before, log = fingerprint(scene.world), done_with_effect(scene.world)
    revision = _revision(scene.world)

    again = scene.apply()

    assert again.planned is not None
    assert again.planned.changes == ()
    assert again.planned.plan.steps == ()
    assert again.outcome is not None
    assert again.outcome.result is RunResult.DONE
    assert {write.system for write in again.process.writes} <= OWN_BOOKKEEPING
    assert done_with_effect(scene.world) == log
    assert _written_since(scene.world, revision) <= {_LEASE}
    assert difference(before, fingerprint(scene.world)) == []


def test_every_node_is_ready_and_flux_follows_the_repository() -> None:
    life = reference().life

    assert life.outcome is not None
    assert life.outcome.result is RunResult.DONE
    finished = {name for name, one in life.outcome.state.steps.items()}
    assert {f"nodes/ready/{name}" for name in ("talos-trinity", "talos-neo", "talos-niobe")} <= (
        finished
    )
    assert "kubernetes/wait/repository" in finished


def test_whoever_has_only_the_own_token_sees_nothing_to_do_either(tmp_path: Path) -> None:
    scene = reference().scene(tmp_path)
    scene.administrator = False

    life = scene.apply()

    assert life.planned is not None
    assert life.planned.changes == ()
    assert {call.system for call in life.process.calls} & {"proxmox-admin"} == set()


def test_everything_after_access_is_done_with_the_own_token_alone(tmp_path: Path) -> None:
    scene = Scene.made(tmp_path)
    scene.apply(wish=PlanOptions(only=(Stage.ACCESS,)))
    scene.administrator = False

    life = scene.apply(wish=PlanOptions(until="vms", push=True))

    assert life.outcome is not None
    assert life.outcome.result is RunResult.DONE
    assert len(scene.world.clusters["k8s"].state.guests) == 3
    assert not any(call.system == "proxmox-admin" for call in life.process.calls)


def _revision(world: World) -> int:
    return max(etcd.keyspace.revision for etcd in world.state.talos.etcd.values())


def _written_since(world: World, revision: int) -> set[str]:
    etcd = next(iter(world.state.talos.etcd.values()))
    return set(written_by(etcd, "stockman", revision))
