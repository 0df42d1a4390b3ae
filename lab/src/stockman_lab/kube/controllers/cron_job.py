"""Cron jobs: a job at every moment of a schedule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from stockman_lab.kube.controllers.client import Refused, read_time
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.job import is_ended
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.controllers.ownership import controller_reference, is_controlled_by
from stockman_lab.kube.controllers.pods import condition, touched_owners
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of, written_time

_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_MOST_DAYS = 366 * 5


class BadSchedule(ValueError):
    """A text that is no schedule."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something happens again and again."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def after(self, moment: float, zone: tzinfo = UTC) -> float | None:
        """The first moment behind another; None: there is none within five years."""
        begin = datetime.fromtimestamp(moment, zone).replace(second=0, microsecond=0)
        begin += timedelta(minutes=1)
        day = begin.replace(hour=0, minute=0)
        for number in range(_MOST_DAYS):
            if self._is_day(day):
                result = self._within(day, begin if number == 0 else day)
                if result is not None:
                    return result.timestamp()
            day = (day + timedelta(days=1)).replace(hour=0, minute=0)
        return None

    def _is_day(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        fits, falls = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return fits and falls
        return fits or falls

    def _within(self, day: datetime, begin: datetime) -> datetime | None:
        for hour in sorted(self.hours):
            for minute in sorted(self.minutes):
                result = day.replace(hour=hour, minute=minute)
                if result >= begin:
                    return result
        return None


def read_schedule(text: str) -> Schedule:
    """`*/5 * * * *` or `@hourly`; raises `BadSchedule`."""
    fields = _WORDS.get(text.strip(), text).split()
    if len(fields) != 5:
        raise BadSchedule(f"expected exactly 5 fields, found {len(fields)}: {fields}")
    minute, hour, day, month, weekday = fields
    weekdays = _numbers(weekday, 0, 7, _DAYS)
    return Schedule(
        _numbers(minute, 0, 59),
        _numbers(hour, 0, 23),
        _numbers(day, 1, 31),
        _numbers(month, 1, 12, _MONTHS),
        frozenset(one % 7 for one in weekdays),
        day[0] in "*?",
        weekday[0] in "*?",
    )


def _numbers(text: str, low: int, high: int, words: list[str] | None = None) -> frozenset[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span in {"*", "?"}:
            first, last = low, min(high, 6) if words is _DAYS else high
        else:
            left, _, right = span.partition("-")
            first = _number(left, words, low)
            last = _number(right, words, low) if right else high if step else first
        if not low <= first <= last <= high or (step and not step.isdigit()):
            raise BadSchedule(f"failed to parse {part!r}")
        numbers.update(range(first, last + 1, int(step or 1)))
    return frozenset(numbers)


def _number(text: str, words: list[str] | None, low: int) -> int:
    if words and text.lower() in words:
        return words.index(text.lower()) + (low if words is _MONTHS else 0)
    if not text.isdigit():
        raise BadSchedule(f"failed to parse int from {text}")
    return int(text)


_DELTA = 0.1
"""Seconds behind a moment of a schedule when it is looked at."""
_MOST_MISSED = 100
_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


class CronJobs(Controller):
    """Starts jobs when it is time; only the next moment is planned."""

    name = "cronjob"
    component = "cronjob-controller"
    watches = ("cronjobs", "jobs")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Of a job: whoever started it."""
        if change.key.resource == "jobs":
            return touched_owners(change, self.objects, "cronjobs", "CronJob")
        return (change.name,)

    def sync(self, key: str) -> None:
        """Note which jobs ended, and start one if it is time."""
        cronjobs = self.objects.get("cronjobs", key)
        if cronjobs is None or metadata_of(cronjobs).get("deletionTimestamp"):
            return
        jobs = [
            job
            for job in self.objects.listed("jobs", metadata_of(cronjobs)["namespace"])
            if is_controlled_by(job, cronjobs)
        ]
        status = copied(part_of(cronjobs, "status"))
        self._note_ends(cronjobs, jobs, status)
        self._forget_old(cronjobs, jobs)
        try:
            schedule = read_schedule(cronjobs["spec"]["schedule"])
        except BadSchedule as why:
            text = f"unparseable schedule: {cronjobs['spec']['schedule']} : {why}"
            self.recorder.warning(cronjobs, "UnparseableSchedule", text)
            self._tell(cronjobs, status)
            return
        if not cronjobs["spec"].get("suspend"):
            self._start(key, cronjobs, jobs, status, schedule)
        self._tell(cronjobs, status)

    def _tell(self, content: Object, status: Object) -> None:
        if status != part_of(content, "status"):
            self.client.update_status(content, status)

    def _note_ends(self, content: Object, jobs: list[Object], status: Object) -> None:
        by_uid = {metadata_of(one)["uid"]: one for one in jobs}
        active = []
        for reference in status.get("active") or []:
            job = by_uid.get(reference["uid"])
            name = reference["name"]
            if job is None:
                text = f"Active job went missing: {name}"
                self.recorder.normal(content, "MissingJob", text)
            elif is_ended(job):
                kind = "Complete" if condition(job, "Complete") else "Failed"
                text = f"Saw completed job: {name}, condition: {kind}"
                self.recorder.normal(content, "SawCompletedJob", text)
                ended = part_of(job, "status").get("completionTime")
                if kind == "Complete" and read_time(ended) > read_time(
                    status.get("lastSuccessfulTime")
                ):
                    status["lastSuccessfulTime"] = ended
            else:
                active.append(reference)
        if active:
            status["active"] = active
        else:
            status.pop("active", None)

    def _forget_old(self, content: Object, jobs: list[Object]) -> None:
        for kind, name, default in (
            ("Complete", "successfulJobsHistoryLimit", 3),
            ("Failed", "failedJobsHistoryLimit", 1),
        ):
            limit = content["spec"].get(name, default)
            ended = [one for one in jobs if is_ended(one) and condition(one, kind)]
            ended.sort(
                key=lambda item: (
                    read_time(part_of(item, "status").get("startTime")),
                    metadata_of(item)["name"],
                )
            )
            for job in ended[: max(len(ended) - limit, 0)]:
                self.client.delete(job, "Background")
                text = f"Deleted job {metadata_of(job)['name']}"
                self.recorder.normal(content, "SuccessfulDelete", text)

    def _start(
        self, key: str, content: Object, jobs: list[Object], status: Object, schedule: Schedule
    ) -> None:
        zone = _zone(content["spec"].get("timeZone"))
        due = self._due(content, status, schedule, zone)
        following = schedule.after(self.now, zone)
        if following is not None:
            self.look_again(key, following + _DELTA, patient=True)
        if due is None:
            return
        most = content["spec"].get("startingDeadlineSeconds")
        if most is not None and due + most < self.now:
            text = f"Missed scheduled time to start a job: {_long(due)}"
            self.recorder.warning(content, "MissSchedule", text)
            return
        policy = content["spec"].get("concurrencyPolicy", "Allow")
        if policy == "Forbid" and status.get("active"):
            text = (
                "Not starting job because prior execution is running and concurrency policy is"
                " Forbid"
            )
            self.recorder.normal(content, "JobAlreadyActive", text)
            return
        if policy == "Replace":
            self._replace(content, jobs, status)
        self._create(content, status, due)

    def _replace(self, content: Object, jobs: list[Object], status: Object) -> None:
        running = {item["uid"] for item in status.pop("active", [])}
        for job in jobs:
            if metadata_of(job)["uid"] in running:
                self.client.delete(job, "Background")
                text = f"Deleted job {metadata_of(job)['name']}"
                self.recorder.normal(content, "SuccessfulDelete", text)

    def _due(
        self, content: Object, status: Object, schedule: Schedule, zone: tzinfo
    ) -> float | None:
        """The last moment of the schedule that has come and was not acted on."""
        since = read_time(status.get("lastScheduleTime"))
        since = since or read_time(metadata_of(content)["creationTimestamp"])
        most = content["spec"].get("startingDeadlineSeconds")
        if most is not None:
            since = max(since, self.now - most)
        due = None
        missed = 0
        following = schedule.after(since, zone)
        while following is not None and following <= self.now:
            due, missed = following, missed + 1
            following = schedule.after(following, zone)
        if missed > _MOST_MISSED:
            text = (
                f"too many missed start times: {missed}. Set or decrease"
                " .spec.startingDeadlineSeconds or check clock skew"
            )
            self.recorder.warning(content, "TooManyMissedTimes", text)
        return due

    def _create(self, content: Object, status: Object, due: float) -> None:
        template = copied(part_of(content, "spec", "jobTemplate"))
        about = part_of(template, "metadata")
        metadata = metadata_of(content)
        name = f"{metadata['name']}-{int(due) // 60}"
        result: Object = {
            "name": name,
            "namespace": metadata["namespace"],
            "annotations": {**(about.get("annotations") or {}), _SCHEDULED: written_time(due)},
            "ownerReferences": [controller_reference(content)],
        }
        if about.get("labels"):
            result["labels"] = about["labels"]
        try:
            job = self.client.create(
                "batch/v1", "Job", {"metadata": result, "spec": template["spec"]}
            )
        except Refused as why:
            if why.is_taken:
                known = self.objects.get("jobs", named_key(metadata["namespace"], name))
                if known is not None and is_controlled_by(known, content):
                    return
            self.recorder.warning(content, "FailedCreate", f"Error creating job: {why.message}")
            raise
        self.recorder.normal(content, "SuccessfulCreate", f"Created job {name}")
        reference = {
            "kind": "Job",
            "namespace": metadata["namespace"],
            "name": name,
            "uid": metadata_of(job)["uid"],
            "apiVersion": "batch/v1",
            "resourceVersion": metadata_of(job)["resourceVersion"],
        }
        status["active"] = [*status.get("active", []), reference]
        status["lastScheduleTime"] = written_time(due)


def _zone(name: object) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if not name:
        return UTC
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _long(moment: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(moment, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
