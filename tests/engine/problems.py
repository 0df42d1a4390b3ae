"""Problems of runs, journals and locks, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable

from stockman.engine import problems
from stockman.engine.journal import JOURNAL_SCHEMA, MAX_LINE_BYTES
from stockman.model.problem import Problem

JOURNAL = ".stockman/runs/20260301t060000z-5f2c1a/journal.jsonl"
RUN = "20260301t060000z-5f2c1a"

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "journal.damaged": lambda: problems.journal_corrupt(
        JOURNAL, 12, "its checksum does not match its content and the lines before it"
    ),
    "journal.schema": lambda: problems.journal_schema(
        JOURNAL, "stockman.journal/9", JOURNAL_SCHEMA
    ),
    "plan.signature": lambda: problems.unsigned_plan("plan.json", "it has no signature"),
    "run.signature": lambda: problems.unsigned_run(RUN, "its journal is not signed with its key"),
    "journal.taken": lambda: problems.journal_written_elsewhere(JOURNAL),
    "journal.too-long": lambda: problems.journal_too_long(70_000, MAX_LINE_BYTES),
    "journal.unwritable": lambda: problems.journal_unwritable(JOURNAL, "No space left on device"),
    "lock.elsewhere": lambda: problems.lock_on_other_machine(".stockman/lock", "anna on notebook"),
    "lock.held": lambda: problems.lock_held_by(
        "s3://flock/main", "anna@workbench, process 4711", "until 06:01:00 unless renewed"
    ),
    "lock.lost": lambda: problems.lock_lost(
        "s3://flock/main", "bert@notebook took it with token 7, this run has 4"
    ),
    "lock.unreadable": lambda: problems.lock_unreadable("s3://flock/main", "connection failed"),
    "plan.moved": lambda: problems.stale_plan(["vm/k8s/1030"]),
    "run.deadline": lambda: problems.step_timeout(
        "talos/configure/cp-1", 600, "cp-1 is in maintenance mode: no answer from 10.42.0.11"
    ),
    "run.gate": lambda: problems.gate_refusal(
        "vms/delete/cp-3",
        "etcd keeps its quorum without one more member",
        "2 of 3 voters healthy, quorum is 2",
    ),
    "run.too-early": lambda: problems.gate_not_yet_open(
        "vms/restart/cp-1",
        "restart VM 1030 (cp-1)",
        "no window of `upgrade.windows` is open; the next opens Sat 2026-11-21 03:00 Europe/Berlin",
        "go on then with `stockman runs resume`; `stockman apply --any-time` does not wait",
    ),
    "run.hold-kept": lambda: problems.hold_release_failure(
        "node work-3 is cordoned", "connection failed"
    ),
    "run.not-done": lambda: problems.step_without_effect(
        "vms/create/cp-1", "create VM 1030 (cp-1)"
    ),
    "run.not-found": lambda: problems.no_such_run("20260301t070000z-000000", (RUN,)),
    "run.over": lambda: problems.run_not_resumable(RUN, "done"),
}
