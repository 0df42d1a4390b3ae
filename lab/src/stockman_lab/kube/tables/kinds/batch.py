"""Tables of jobs."""

from __future__ import annotations

from stockman_lab.kube.tables.ages import Ages, human, seconds_of
from stockman_lab.kube.tables.printing import (
    NONE,
    UNSET,
    Cells,
    Object,
    at,
    cells_of,
    containers,
    created,
    is_being_deleted,
    is_true,
    listed,
    name_of,
    number,
    selector,
    text,
)


@cells_of("batch/v1/jobs")
def job_cells(job: Object, ages: Ages) -> Cells:
    """Name, status, completions, duration, age, containers, images, selector."""
    return [
        name_of(job),
        _status(job),
        _completions(job),
        _duration(job, ages),
        ages.since(created(job)),
        *containers(at(job, "spec", "template", "spec")),
        selector(at(job, "spec", "selector")),
    ]


def _status(job: Object) -> str:
    if is_true(job, "Complete"):
        return "Complete"
    if is_true(job, "Failed"):
        return "Failed"
    if is_being_deleted(job):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if is_true(job, kind):
            return kind
    return "Running"


def _completions(job: Object) -> str:
    done, wanted = number(job, "status", "succeeded"), at(job, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    beside = number(job, "spec", "parallelism")
    return f"{done}/1 of {beside}" if beside > 1 else f"{done}/1"


def _duration(job: Object, ages: Ages) -> str:
    started, ended = at(job, "status", "startTime"), at(job, "status", "completionTime")
    if not started:
        return ""
    return human(seconds_of(ended) - seconds_of(started)) if ended else ages.since(started)


@cells_of("batch/v1/cronjobs")
def cron_job_cells(job: Object, ages: Ages) -> Cells:
    """Name, schedule, zone, whether it is suspended, active jobs, last one, age and pods."""
    last = at(job, "status", "lastScheduleTime")
    suspend = at(job, "spec", "suspend")
    made = at(job, "spec", "jobTemplate", "spec")
    return [
        name_of(job),
        text(job, "spec", "schedule"),
        text(job, "spec", "timeZone", default=NONE),
        UNSET if suspend is None else str(suspend),
        len(listed(job, "status", "active")),
        ages.since(last) if last else NONE,
        ages.since(created(job)),
        *containers(at(made, "template", "spec")),
        selector(at(made, "selector")),
    ]
