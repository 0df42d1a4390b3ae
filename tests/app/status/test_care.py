"""Certificates, backups, runs and the lock: what is told of them."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.objects.state import Bucket
from stockman_lab.servers.objects_port import ENDPOINT, memory_objects

from stockman.app.runs.history import current_process, local_run_store
from stockman.app.status.observation import (
    BackupStore,
    bucket_target,
    directory_target,
    unreachable_target,
)
from stockman.assessment.status.findings import Health, StatusCheck
from stockman.assessment.status.observed import (
    CertificateList,
    ListedCertificate,
    ObservedBackup,
    ObservedLease,
    StatusInput,
)
from stockman.assessment.status.operations import longest_gap
from stockman.assessment.status.status import assess
from stockman.engine.context import StopRequest
from stockman.engine.lifecycle import start_run
from stockman.engine.local_lock import LocalLock
from stockman.engine.lock import LockHolder
from stockman.kubernetes.leases import LeaseRequest
from stockman.model.errors import Denied
from stockman.model.policies import Backup
from stockman.model.problem import Problem, Severity
from stockman.s3.location import S3Location
from stockman.steps.base import Checkpoint
from stockman.steps.ports import Ports
from stockman.talos.credentials.certificates import CertificateState
from tests.app.status.scene import Scene, codes, severity
from tests.engine.simulated import Dice, JumpClock
from tests.engine.toys import make, plan_of, way

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def with_backup(seen: StatusInput, *backup: ObservedBackup) -> StatusInput:
    """The same look, with backups every six hours."""
    desired = replace(seen.desired, backup=Backup(enabled=True, schedule="0 */6 * * *"))
    return replace(seen, desired=desired, backups=backup)


def target(**more: Any) -> ObservedBackup:
    return ObservedBackup(target="s3", where="s3://etcd", **more)


# -- certificates ----------------------------------------------------------------------------------


def test_certificates_are_told_as_their_list_tells_them(simulation: Scene) -> None:
    ends = NOW + timedelta(days=10)
    certificate = ListedCertificate(
        file="talosconfig",
        name="k8s",
        kind="client",
        subject="admin",
        organizations=("os:admin",),
        ours=True,
        ends=ends,
        days_left=10,
        standing=CertificateState.DUE,
        renew="run `stockman config talosconfig`",
    )
    due = Problem(
        code="certificate.due",
        what="the certificate of k8s in talosconfig ends in 10 days",
        why="it holds until 2026-03-11",
        fix=certificate.renew,
        where="talosconfig",
        severity=Severity.WARNING,
    )
    simulation.certificates = CertificateList(
        certificates=(certificate,), problems=(due,), not_read=()
    )

    status = simulation.status([StatusCheck.CERTIFICATES])

    assert codes(status.parts) == {"certificate.due": ["talosconfig"]}
    assert (status.parts[0].health, status.healthy) == (Health.WARNING, True)


def test_no_certificates_at_all_are_unknown(simulation: Scene) -> None:
    status = simulation.status([StatusCheck.CERTIFICATES])

    assert (status.parts[0].health, status.healthy) == (Health.UNKNOWN, False)


# -- backups ---------------------------------------------------------------------------------------


def test_backups_that_nobody_wants_are_off(simulation: Scene) -> None:
    status = simulation.status([StatusCheck.BACKUPS])

    assert status.parts[0].health is Health.OFF
    assert status.healthy


@pytest.mark.parametrize(("hours", "texts"), [(11, []), (13, ["status.backup-old"])])
def test_a_snapshot_is_old_once_two_moments_passed_without_one(
    simulation: Scene, hours: int, texts: list[str]
) -> None:
    seen = simulation.look()
    newest = seen.at - timedelta(hours=hours)

    status = assess(with_backup(seen, target(count=3, newest=newest)), [StatusCheck.BACKUPS])

    assert list(codes(status.parts)) == texts


def test_a_young_cluster_without_a_snapshot_is_only_warned(simulation: Scene) -> None:
    seen = simulation.look()
    later = replace(seen, at=seen.at + timedelta(days=2))

    young = assess(with_backup(seen, target()), [StatusCheck.BACKUPS])
    old = assess(with_backup(later, target()), [StatusCheck.BACKUPS])

    assert severity(young, "status.backup-none") is Severity.WARNING
    assert severity(old, "status.backup-none") is Severity.ERROR


def test_a_target_that_cannot_be_listed_is_unknown(simulation: Scene) -> None:
    status = assess(with_backup(simulation.look(), target(why="denied")), [StatusCheck.BACKUPS])

    assert status.parts[0].health is Health.UNKNOWN
    assert status.healthy


def test_backups_without_a_target_are_no_success(simulation: Scene) -> None:
    assert not assess(with_backup(simulation.look()), [StatusCheck.BACKUPS]).healthy


def _looked(simulation: Scene, *backup_store: BackupStore) -> tuple[ObservedBackup, ...]:
    simulation.places = backup_store
    return simulation.look([StatusCheck.BACKUPS]).backups or ()


def test_snapshots_in_a_bucket_are_found_by_their_name(simulation: Scene) -> None:
    simulation.world.state.objects.buckets["etcd"] = Bucket(simulation.world.now)
    objects = memory_objects(
        simulation.world, S3Location(bucket="etcd", endpoint=ENDPOINT, region="us-east-1")
    )

    async def pieces() -> None:
        await objects.create("k8s-2026-03-01T06:00:00Z.snap.age", b"snapshot")
        await objects.create("readme.txt", b"no snapshot")

    asyncio.run(pieces())

    backups = _looked(simulation, bucket_target("s3", "s3://etcd", objects))

    assert [(backup.count, backup.size, backup.why) for backup in backups] == [(1, 8, "")]
    assert backups[0].newest == datetime.fromtimestamp(int(simulation.world.now), UTC)


def test_snapshots_in_a_directory_are_found(simulation: Scene, tmp_path: Path) -> None:
    file = tmp_path / "one.snap"
    file.write_bytes(b"four")
    os.utime(file, (NOW.timestamp(), NOW.timestamp()))

    backups = _looked(
        simulation, directory_target("disk", tmp_path), directory_target("gone", tmp_path / "none")
    )

    assert (backups[0].newest, backups[0].size) == (NOW, 4)
    assert backups[1].why == "the system says: No such file or directory"


def test_a_directory_gets_advice_of_its_own(simulation: Scene) -> None:
    seen = simulation.look()
    empty = target(is_directory=True)
    gone = ObservedBackup(
        target="disk", where="/backup", why="no such directory", is_directory=True
    )

    status = assess(with_backup(seen, empty, gone), [StatusCheck.BACKUPS])

    fixes = {finding.subject: finding.problem.fix for finding in status.findings}
    assert "talosctl -n 127." in fixes["s3"]
    assert "kubectl" not in fixes["s3"]
    assert "make /backup, or mount it" in " ".join(fixes.values())
    assert "credentials" not in " ".join(fixes.values())


def test_a_place_that_refuses_says_why(simulation: Scene) -> None:
    denied = Denied(Problem(code="toy.no", what="the key is not known", why="403", fix=""))

    assert (
        _looked(simulation, unreachable_target("s3", "s3://etcd", denied))[0].why
        == "the key is not known: 403"
    )


@pytest.mark.parametrize(
    ("schedule", "hours"),
    [
        ("0 */6 * * *", 6.0),
        ("*/15 * * * *", 0.25),
        ("0 3 * * *", 24.0),
        ("30 3 * * mon-fri", 72.0),
        ("0 0 1 * *", 31 * 24.0),
        ("0 0 1 jan *", 366 * 24.0),
        ("0 1,13 * * *", 12.0),
        ("0 0 13 * 5", 7 * 24.0),
    ],
)
def test_the_longest_gap_of_a_schedule(schedule: str, hours: float) -> None:
    assert longest_gap(schedule) == timedelta(hours=hours)


@pytest.mark.parametrize("schedule", ["", "1 2 3", "61 * * * *", "a b c d e", "0 0 31 2 *"])
def test_what_is_no_schedule_has_no_gap(schedule: str) -> None:
    assert longest_gap(schedule) is None


# -- runs and the lock -----------------------------------------------------------------------------


def carried_out(simulation: Scene, root: Path, *, stopped: bool) -> str:
    clock, stop = JumpClock(), StopRequest()
    plan = plan_of(
        make("wait", action=Checkpoint(text="wait for the flock")),
        make("more", "wait", action=Checkpoint(text="wait for the dog")),
    )
    watchers = (lambda entry: stop.request() if stopped else None,)
    simulation.home = local_run_store(root, clock)
    ports = Ports(clock=clock, entropy=Dice(1))
    return asyncio.run(
        start_run(simulation.home, plan, ports, way(stop, watchers=watchers))
    ).state.run


def test_a_run_that_is_done_is_good(simulation: Scene, tmp_path: Path) -> None:
    carried_out(simulation, tmp_path, stopped=False)

    status = simulation.status([StatusCheck.RUNS])

    assert codes(status.parts) == {}
    assert status.parts[0].summary.startswith("1 run, the last is done at ")


def test_a_run_that_was_stopped_can_be_gone_on_with(simulation: Scene, tmp_path: Path) -> None:
    run = carried_out(simulation, tmp_path, stopped=True)

    status = simulation.status([StatusCheck.RUNS])

    assert codes(status.parts) == {"status.run-unfinished": [run]}
    assert "`stockman runs resume`" in status.findings[0].problem.fix
    assert status.healthy


def test_a_run_that_still_holds_something_is_an_error(simulation: Scene, tmp_path: Path) -> None:
    carried_out(simulation, tmp_path, stopped=True)
    seen = simulation.look([StatusCheck.RUNS])
    assert seen.runs is not None
    holds = replace(seen.runs.unfinished[0], held=("node talos-neo is cordoned",))

    status = assess(replace(seen, runs=replace(seen.runs, unfinished=(holds,))), [StatusCheck.RUNS])

    assert not status.healthy
    assert "talos-neo is cordoned" in status.findings[0].problem.why


def test_a_lock_that_somebody_holds_is_told_and_not_taken(
    simulation: Scene, tmp_path: Path
) -> None:
    file = tmp_path / ".stockman/runs/lock"
    clock = JumpClock()
    holder = LockHolder(name="anna@workbench", run="run-1", nonce="a")

    async def story() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        simulation.home = local_run_store(tmp_path, clock)
        tenure = await LocalLock(file, clock, current_process()).acquire(holder)
        looker = simulation.looker()
        held = codes((await looker.status([StatusCheck.RUNS])).parts)
        await tenure.check()
        await tenure.release()
        return held, codes((await looker.status([StatusCheck.RUNS])).parts)

    assert asyncio.run(story()) == ({"status.lock-held": ["lock"]}, {})


def leased(simulation: Scene, run: str = "run-9") -> None:
    """Somebody whose lock is elsewhere works on the cluster, unless the run is ours."""
    lease_request = LeaseRequest(
        namespace="kube-system", name="stockman", holder=f"{run}-b", seconds=60
    )
    asyncio.run(simulation.ports.to_kubernetes().acquire_lease(lease_request))


def test_a_lease_without_our_lock_is_of_somebody_with_another_configuration(
    simulation: Scene,
) -> None:
    assert (
        "the Lease in Kubernetes is free" in simulation.status([StatusCheck.RUNS]).parts[0].summary
    )
    leased(simulation)

    status = simulation.status([StatusCheck.RUNS])

    assert "the Lease in Kubernetes is held by run-9-b, renewed at " in status.parts[0].summary
    assert codes(status.parts) == {"status.lease-held": ["Lease"]}
    assert status.healthy


def test_a_lease_of_our_own_run_that_was_killed_is_of_nobody_else(
    simulation: Scene, tmp_path: Path
) -> None:
    carried_out(simulation, tmp_path, stopped=True)
    seen = simulation.look([StatusCheck.RUNS])
    assert seen.runs is not None
    leased(simulation, seen.runs.unfinished[0].run)

    status = simulation.status([StatusCheck.RUNS])

    assert "the Lease in Kubernetes is held by " in status.parts[0].summary
    assert list(codes(status.parts)) == ["status.run-unfinished"]


def test_a_lease_that_nobody_renews_is_free_again(simulation: Scene) -> None:
    leased(simulation)
    simulation.world.advance(120.0)

    status = simulation.status([StatusCheck.RUNS])

    assert "is free, left behind by run-9-b" in status.parts[0].summary
    assert codes(status.parts) == {}


def test_a_lease_that_nobody_can_read_is_no_reason_to_worry_about_runs(simulation: Scene) -> None:
    seen = simulation.look([StatusCheck.RUNS])
    assert seen.runs is not None
    silent = replace(seen.runs, lease=ObservedLease(why="the API gives no answer"))

    status = assess(replace(seen, runs=silent), [StatusCheck.RUNS])

    assert "the Lease in Kubernetes is not known" in status.parts[0].summary
    assert codes(status.parts) == {}


def test_runs_that_cannot_be_read_are_unknown(simulation: Scene, tmp_path: Path) -> None:
    lock = tmp_path / ".stockman/runs/lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("{")

    status = simulation.status([StatusCheck.RUNS])

    assert (status.parts[0].health, status.healthy) == (Health.UNKNOWN, False)
