"""Cron jobs start jobs by the clock of the world."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from stockman_lab.kube.controllers.cron_job import BadSchedule, read_schedule

from lab.tests.kube.controllers.playing import BATCH, Played, played, template

MINUTE = 60.0


def started(**spec: Any) -> Played:
    lab = played()
    inner = {"spec": {"template": {"spec": template(restartPolicy="Never")["spec"]}}}
    body = {"schedule": "*/10 * * * *", "jobTemplate": inner, **spec}
    lab.ask("POST", f"{BATCH}/cronjobs", {"metadata": {"name": "wool"}, "spec": body})
    return lab


def test_a_job_is_started_at_every_moment_of_the_schedule() -> None:
    lab = started()

    lab.run(20 * MINUTE)

    assert len(lab.items(f"{BATCH}/jobs")) == 2
    assert len(lab.get(f"{BATCH}/cronjobs/wool")["status"]["active"]) == 2


def test_the_name_of_a_job_is_the_minute_it_was_meant_for() -> None:
    lab = started()

    lab.run(10 * MINUTE)

    status = lab.get(f"{BATCH}/cronjobs/wool")["status"]
    meant = datetime.fromisoformat(status["lastScheduleTime"]).timestamp()
    assert lab.names(f"{BATCH}/jobs") == [f"wool-{int(meant) // 60}"]


def test_only_the_next_moment_is_planned() -> None:
    lab = started()
    lab.run(20 * MINUTE)

    assert len(lab.timeline.state.events) == 1


def test_no_second_job_runs_where_that_is_forbidden() -> None:
    lab = started(concurrencyPolicy="Forbid")

    lab.run(30 * MINUTE)

    assert len(lab.items(f"{BATCH}/jobs")) == 1


def test_a_suspended_one_starts_nothing() -> None:
    lab = started(suspend=True)

    lab.run(30 * MINUTE)

    assert lab.items(f"{BATCH}/jobs") == []


def test_only_some_jobs_that_ended_are_kept() -> None:
    lab = started(successfulJobsHistoryLimit=1)
    for _ in range(3):
        lab.run(10 * MINUTE)
        lab.end("Succeeded")

    assert len(lab.items(f"{BATCH}/jobs")) == 1


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("*/5 * * * *", "2026-01-01T00:05:00"),
        ("30 2 * * *", "2026-01-01T02:30:00"),
        ("0 0 * * mon", "2026-01-05T00:00:00"),
        ("0 12 15 feb *", "2026-02-15T12:00:00"),
        ("0 0 13 * fri", "2026-01-02T00:00:00"),
        ("@monthly", "2026-02-01T00:00:00"),
        ("0 0 29 2 *", "2028-02-29T00:00:00"),
    ],
)
def test_the_next_moment_of_a_schedule(schedule: str, expected: str) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

    after = read_schedule(schedule).after(begin)

    assert after is not None
    assert datetime.fromtimestamp(after, UTC).strftime("%Y-%m-%dT%H:%M:%S") == expected


@pytest.mark.parametrize("schedule", ["* * * *", "61 * * * *", "a * * * *", "5-1 * * * *"])
def test_what_is_no_schedule_is_refused(schedule: str) -> None:
    with pytest.raises(BadSchedule):
        read_schedule(schedule)
