"""Problems of backups, runs and the lock, each with a fix."""

from __future__ import annotations

from stockman.model.problem import Problem


def no_backup(target: str, where: str, schedule: str) -> Problem:
    return Problem(
        code="status.backup-none",
        what=f"there is no snapshot of etcd in {target}",
        where=where,
        why=f"backups are on, at {schedule!r}, and none has come yet",
        fix="see whether the component works: `kubectl -n talos-backup get cronjobs,jobs`",
    )


def old_backup(target: str, where: str, age: str, longest: str) -> Problem:
    return Problem(
        code="status.backup-old",
        what=f"the newest snapshot in {target} is {age} old",
        where=where,
        why=f"by its schedule one comes every {longest} at least",
        fix="see why the last ones did not come: `kubectl -n talos-backup get cronjobs,jobs`",
    )


def open_run(run: str, result: str, done: str, held: str) -> Problem:
    keeps = f"; it holds: {held}" if held else ""
    return Problem(
        code="status.run-unfinished",
        what=f"the run {run} is not finished",
        where=run,
        why=f"it is {result}, {done} steps are done{keeps}",
        fix="go on with `stockman runs resume`, or give it up with `stockman runs abort`",
    )


def lock_held(holder: str) -> Problem:
    return Problem(
        code="status.lock-held",
        what="somebody works on the cluster right now",
        where="lock",
        why=f"the lock is held by {holder}",
        fix="wait for it, and follow it with `stockman runs show`",
    )


def lease_held(holder: str) -> Problem:
    return Problem(
        code="status.lease-held",
        what="somebody works on the cluster now, and not under the lock of this configuration",
        where="Lease kube-system/stockman",
        why=f"the Lease is held by {holder}, and the lock is free",
        fix="find out whose configuration names another `lock.home`, and agree on one; a run that"
        " was killed loses the Lease within a minute",
    )
