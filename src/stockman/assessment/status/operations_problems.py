"""Problems of backups, runs and the lock, each with a fix."""

from __future__ import annotations

from stockman.model.problem import Problem


def no_backup(target: str, where: str, schedule: str) -> Problem:
    return Problem(
        code="status.backup-none",
        what=f"there is no snapshot of etcd in {target}",
        where=where,
        why=f"backups are scheduled at {schedule!r}, but there is none yet",
        fix="check the component: `kubectl -n talos-backup get cronjobs,jobs`",
    )


def old_backup(target: str, where: str, age: str, longest: str) -> Problem:
    return Problem(
        code="status.backup-old",
        what=f"the newest snapshot in {target} is {age} old",
        where=where,
        why=f"by its schedule there is one at least every {longest}",
        fix="see why the last ones failed: `kubectl -n talos-backup get cronjobs,jobs`",
    )


def open_run(run: str, result: str, done: str, held: str) -> Problem:
    keeps = f"; it holds: {held}" if held else ""
    return Problem(
        code="status.run-unfinished",
        what=f"the run {run} is not finished",
        where=run,
        why=f"it is {result}, {done} steps are done{keeps}",
        fix="resume it with `stockman runs resume`, or abort it with `stockman runs abort`",
    )


def lock_held(holder: str) -> Problem:
    return Problem(
        code="status.lock-held",
        what="another run is working on the cluster",
        where="lock",
        why=f"the lock is held by {holder}",
        fix="wait for it; see its progress with `stockman runs show`",
    )


def lease_held(holder: str) -> Problem:
    return Problem(
        code="status.lease-held",
        what="another run is working on the cluster with a different lock",
        where="Lease kube-system/stockman",
        why=f"the Lease is held by {holder}, but the lock is free",
        fix="find the configuration with another `lock.home` and use one for both; a run that"
        " was killed loses the Lease within a minute",
    )
