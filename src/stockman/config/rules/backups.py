"""Backups: every target is one place, and secrets are not empty."""

from __future__ import annotations

from stockman.config.rules.context import Context


def check(context: Context) -> None:
    backup = context.estate.backup
    for target in backup.targets:
        if (target.bucket is None) == (target.directory is None):
            both = target.bucket is not None
            context.problems.error(
                "backup.target",
                f"the backup target {target.name} is not one place",
                why="it has a bucket and a directory"
                if both
                else "it has neither bucket nor directory",
                fix="give `bucket`, or `directory`, not both",
                at=target.where(),
            )
    seen: set[str] = set()
    for target in backup.targets:
        if target.name in seen:
            context.problems.error(
                "backup.target-taken",
                f"two backup targets are called {target.name}",
                why="restores name the target they read from",
                fix="give each target a name of its own",
                at=target.where("name"),
            )
        seen.add(target.name)
    if backup.enabled and not backup.targets:
        context.problems.error(
            "backup.no-target",
            "backups are on, but go nowhere",
            why="no target is given",
            fix=f"add {context.name('backup.targets[0].bucket')}, or `backup: {{targets: [...]}}`",
            at=backup.where("enabled"),
        )
