"""Problems of runs, journals and locks."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import Problem


def journal_corrupt(location: str, line: int, why: str) -> Problem:
    return Problem(
        code="journal.damaged",
        what=f"line {line} of the journal is not what stockman wrote",
        where=location,
        why=why,
        fix="restore the journal from a copy; or give back by hand what the run held, and delete"
        " the run",
    )


def journal_schema(location: str, schema: str, known: str) -> Problem:
    return Problem(
        code="journal.schema",
        what="the journal is of another version of stockman",
        where=location,
        why=f"its schema is {schema!r}, and this stockman knows {known!r}",
        fix="use the stockman that began the run",
    )


def journal_too_long(size: int, limit: int) -> Problem:
    return Problem(
        code="journal.too-long",
        what="an entry is too long for the journal",
        why=f"it has {size} bytes, and a line has {limit} at most",
        fix="report this: a hold keeps too much of what was there before",
    )


def journal_written_elsewhere(location: str) -> Problem:
    return Problem(
        code="journal.taken",
        what="somebody else writes into the journal of this run",
        where=location,
        why="the next number has an entry that is not ours",
        fix="look with `stockman runs show` who goes on with the run; this one stops here",
    )


def journal_unwritable(location: str, why: str) -> Problem:
    return Problem(
        code="journal.unwritable",
        what="the journal cannot be written",
        where=location,
        why=why,
        fix="make room, or set the rights of the directory; nothing is done that is not written"
        " down before",
    )


def no_such_run(run: str, known: Sequence[str]) -> Problem:
    newest = f"the newest is {known[-1]}" if known else "there are none"
    return Problem(
        code="run.not-found",
        what=f"there is no run {run}",
        where=run,
        why=f"of {len(known)} runs none has this name; {newest}",
        fix="see `stockman runs list`",
    )


def run_not_resumable(run: str, result: str) -> Problem:
    return Problem(
        code="run.over",
        what=f"run {run} is over",
        where=run,
        why=f"it ended with: {result}",
        fix="run `stockman plan` to see what is left to do",
    )


def stale_plan(changed: Sequence[str]) -> Problem:
    shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
    return Problem(
        code="plan.moved",
        what="what the plan touches has changed since the plan was made",
        where=changed[0],
        why=f"different now: {shown}",
        fix="make the plan again with `stockman plan --out FILE`, and look at it",
    )


def step_without_effect(step: str, summary: str) -> Problem:
    return Problem(
        code="run.not-done",
        what=f"step {step} ran, and what it should bring about is not there",
        where=step,
        why=f"after `{summary}` a second look says that it is still to be done",
        fix="look at the thing itself and run `stockman plan`; nothing was taken for granted",
    )


def step_timeout(step: str, seconds: float, waited: str) -> Problem:
    return Problem(
        code="run.deadline",
        what=f"step {step} was not finished in time",
        where=step,
        why=f"it had {seconds:.0f} s; {waited}",
        fix="see what it waits for, then go on with `stockman runs resume`",
    )


def gate_refusal(step: str, gate: str, because: str, fix: str = "") -> Problem:
    return Problem(
        code="run.gate",
        what=f"a gate refused step {step}",
        where=step,
        why=f"{gate}: {because}",
        fix=f"{fix or 'put that right'}, then go on with `stockman runs resume`",
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
        what=f"something that the run took could not be given back: {hold}",
        where=hold,
        why=why,
        fix="try again with `stockman runs resume` or `stockman runs abort`; both give it back",
    )


def lock_held_by(location: str, holder: str, until: str) -> Problem:
    return Problem(
        code="lock.held",
        what="somebody else works on this cluster",
        where=location,
        why=f"{holder} holds the lock {until}",
        fix="wait until that run is over, or stop it where it runs; if it was killed, try again a"
        " minute later",
    )


def lock_lost(location: str, why: str) -> Problem:
    return Problem(
        code="lock.lost",
        what="the lock of this cluster is no longer ours",
        where=location,
        why=why,
        fix="see with `stockman runs list` who works on the cluster; then `stockman runs resume`",
    )


def lock_unreadable(location: str, why: str) -> Problem:
    return Problem(
        code="lock.unreadable",
        what="nobody can say who holds the lock of this cluster",
        where=location,
        why=why,
        fix="make the place of the lock (`lock.home` in cluster.yaml) readable; without it no run"
        " starts",
    )


def lock_on_other_machine(location: str, holder: str) -> Problem:
    return Problem(
        code="lock.elsewhere",
        what="a run on another machine may still hold the local lock",
        where=location,
        why=f"the file names {holder}, and this machine cannot see whether it still runs",
        fix="delete the file if that run is over; for several machines set `lock.home` to a bucket",
    )
