"""Who did it: tasks of Proxmox VE, and managers of fields."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman.assessment.drift.objects import field_author, is_field_managed_by_flux
from stockman.assessment.drift.proxmox import CHANGE_TASKS, MOVE_TASKS, task_author
from stockman.model.names import Vmid
from stockman.proxmox.tasks import TaskSummary

OWN = "stockman@pve"


def task(kind: str, user: str, started: int, *, vmid: int = 7, status: str = "OK") -> TaskSummary:
    upid = f"UPID:pve1:00000001:00000001:{started:08X}:{kind}:{vmid}:{user}:"
    return TaskSummary(
        upid=upid,
        kind=kind,
        subject=str(vmid),
        user=user.partition("!")[0],
        status=status,
        started=started,
    )


def managed(*entries: tuple[str, str, dict[str, object]]) -> dict[str, object]:
    return {
        "metadata": {
            "managedFields": [
                {"manager": who, "operation": "Update", "time": at, "fieldsV1": fields}
                for who, at, fields in entries
            ]
        }
    }


def test_the_newest_task_of_its_kind_tells_who_with_the_token() -> None:
    tasks = [task("qmconfig", "mary@pve", 10), task("qmconfig", "root@pam!ci", 20)]

    author = task_author(tasks, Vmid(7), CHANGE_TASKS, OWN)

    assert (author.name, author.how) == ("root@pam!ci", "task qmconfig on pve1")
    assert author.when == datetime.fromtimestamp(20, UTC)


def test_tasks_of_others_guests_of_other_kinds_and_failed_ones_tell_nothing() -> None:
    tasks = [
        task("qmconfig", "mary@pve", 10, vmid=8),
        task("qmigrate", "mary@pve", 11),
        task("qmconfig", "mary@pve", 12, status="no such disk"),
    ]

    assert not task_author(tasks, Vmid(7), CHANGE_TASKS, OWN).is_known


def test_a_task_before_our_own_is_not_blamed() -> None:
    tasks = [task("qmigrate", "mary@pve", 10), task("qmigrate", f"{OWN}!stockman", 20)]

    assert not task_author(tasks, Vmid(7), MOVE_TASKS, OWN).is_known


def test_the_manager_of_the_field_itself_is_named() -> None:
    content = managed(
        ("kustomize-controller", "2026-08-01T10:00:00Z", {"f:spec": {"f:interval": {}}}),
        ("kubectl-edit", "2026-08-01T11:00:00Z", {"f:spec": {"f:values": {"f:a": {}}}}),
        ("other", "2026-08-01T12:00:00Z", {"f:spec": {"f:values": {"f:b": {}}}}),
    )

    author = field_author(content, [("spec", "values", "a")])

    assert author.name == "kubectl-edit"
    assert author.when == datetime(2026, 8, 1, 11, tzinfo=UTC)


def test_a_field_inside_of_what_somebody_owns_as_a_whole_is_theirs() -> None:
    content = managed(("kubectl-edit", "2026-08-01T11:00:00Z", {"f:spec": {"f:list": {}}}))

    assert field_author(content, [("spec", "list", "x")]).name == "kubectl-edit"


def test_controllers_and_writers_of_status_are_nobody() -> None:
    content = managed(("stockman", "2026-08-01T11:00:00Z", {"f:data": {"f:a": {}}}))

    assert not field_author(content, [("data", "a")]).is_known


def test_a_field_is_of_controllers_where_they_alone_own_it() -> None:
    at = "2026-08-01T11:00:00Z"
    fields: dict[str, object] = {"f:data": {"f:a": {}}}
    path = ("data", "a")

    assert is_field_managed_by_flux(managed(("flux-operator", at, fields)), path)
    assert not is_field_managed_by_flux(managed(("stockman", at, fields)), path)
    assert not is_field_managed_by_flux(
        managed(("flux-operator", at, fields), ("kubectl", at, fields)), path
    )
    assert not is_field_managed_by_flux(managed(), path)
