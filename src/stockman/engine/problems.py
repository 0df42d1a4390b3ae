"""Problems of runs, journals and locks."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import Problem


def journal_corrupt(location: str, line: int, why: str) -> Problem:
    return Problem(
        code="journal.damaged",
        what=f"line {line} of the journal is damaged",
        where=location,
        why=why,
        fix="restore the journal from a copy; or release by hand what the run held, and delete the"
        " run",
    )


def unsigned_plan(file: str, why: str) -> Problem:
    return Problem(
        code="plan.signature",
        what="the saved plan is not signed with the key of this cluster",
        where=file,
        why=why,
        fix="plan again with `stockman plan --out FILE`",
    )


def unsigned_run(run: str, why: str) -> Problem:
    return Problem(
        code="run.signature",
        what="the run is not signed with the key of this cluster, and is not continued",
        where=run,
        why=why,
        fix="plan again with `stockman apply`; if the run holds something, release it by hand and"
        " delete the run",
    )


def journal_schema(location: str, schema: str, known: str) -> Problem:
    return Problem(
        code="journal.schema",
        what="the journal was written by another version of stockman",
        where=location,
        why=f"its schema is {schema!r}; this version supports {known!r}",
        fix="use the version of stockman that started the run",
    )


def journal_too_long(size: int, limit: int) -> Problem:
    return Problem(
        code="journal.too-long",
        what="a journal entry is too long",
        why=f"it has {size} bytes; the limit is {limit}",
        fix="report this as a bug: the previous value of a hold is too large",
    )


def journal_written_elsewhere(location: str) -> Problem:
    return Problem(
        code="journal.taken",
        what="another process writes to the journal of this run",
        where=location,
        why="it has written the next entry",
        fix="check with `stockman runs show` who resumed the run; this process stops",
    )


def journal_unwritable(location: str, why: str) -> Problem:
    return Problem(
        code="journal.unwritable",
        what="the journal cannot be written",
        where=location,
        why=why,
        fix="free disk space, or correct the permissions of the directory; no step runs without a"
        " journal entry",
    )


def no_such_run(run: str, known: Sequence[str]) -> Problem:
    why = f"the newest of {len(known)} runs is {known[-1]}" if known else "there are no runs"
    return Problem(
        code="run.not-found",
        what=f"run {run} does not exist",
        where=run,
        why=why,
        fix="list the runs with `stockman runs list`",
    )


def run_not_resumable(run: str, result: str) -> Problem:
    return Problem(
        code="run.over",
        what=f"run {run} has already ended",
        where=run,
        why=f"its result is: {result}",
        fix="run `stockman plan` to see what is left to do",
    )


def stale_plan(changed: Sequence[str]) -> Problem:
    shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
    return Problem(
        code="plan.moved",
        what="the state has changed since the plan was created",
        where=changed[0],
        why=f"changed since then: {shown}",
        fix="create a new plan with `stockman plan --out FILE`, and review it",
    )


def step_without_effect(step: str, summary: str) -> Problem:
    return Problem(
        code="run.not-done",
        what=f"step {step} finished without the expected result",
        where=step,
        why=f"the check after `{summary}` does not see the change",
        fix="check the object itself, then run `stockman plan`",
    )


def step_timeout(step: str, seconds: float, reason: str) -> Problem:
    return Problem(
        code="run.deadline",
        what=f"step {step} exceeded its deadline",
        where=step,
        why=f"not finished after {seconds:.0f} s: {reason}",
        fix="check what it waits for, then continue with `stockman runs resume`",
    )


def gate_refusal(step: str, gate: str, because: str, fix: str = "") -> Problem:
    return Problem(
        code="run.gate",
        what=f"a gate blocked step {step}",
        where=step,
        why=f"{gate}: {because}",
        fix=f"{fix or 'resolve this'}, then continue with `stockman runs resume`",
    )


def gate_not_yet_open(step: str, action: str, because: str, fix: str) -> Problem:
    return Problem(
        code="run.too-early",
        what=f"it is too early to {action}",
        where=step,
        why=because,
        fix=fix,
    )


def hold_release_failure(hold: str, why: str) -> Problem:
    return Problem(
        code="run.hold-kept",
        what=f"a hold could not be released: {hold}",
        where=hold,
        why=why,
        fix="release it with `stockman runs resume` or `stockman runs abort`",
    )


def lock_held_by(location: str, holder: str, until: str) -> Problem:
    return Problem(
        code="lock.held",
        what="another run holds the lock of this cluster",
        where=location,
        why=f"{holder} holds it {until}",
        fix="wait until that run has ended, or stop it on its machine; if it was killed, try again"
        " in a minute",
    )


def lock_lost(location: str, why: str) -> Problem:
    return Problem(
        code="lock.lost",
        what="this run has lost the lock of the cluster",
        where=location,
        why=why,
        fix="check with `stockman runs list` which run is active; then `stockman runs resume`",
    )


def lock_unreadable(location: str, why: str) -> Problem:
    return Problem(
        code="lock.unreadable",
        what="the lock of this cluster cannot be read",
        where=location,
        why=why,
        fix="make the location of the lock readable (`lock.home` in cluster.yaml)",
    )


def lock_on_other_machine(location: str, holder: str) -> Problem:
    return Problem(
        code="lock.elsewhere",
        what="a run on another machine may still hold the local lock",
        where=location,
        why=f"the file names {holder}; this machine cannot check whether that process still runs",
        fix="delete the file if that run has ended; for several machines set `lock.home` to a"
        " bucket",
    )
