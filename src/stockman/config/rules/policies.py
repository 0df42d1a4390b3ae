"""Rules for upgrades and backups."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman.config.nearest import nearest_name
from stockman.config.rules.context import RuleContext
from stockman.model.schedule import parse_schedule


def check_upgrades(context: RuleContext) -> None:
    """Check canaries, classes, engine, windows and time zones of upgrades."""
    upgrade = context.configuration.upgrade
    names = [str(node.name) for node in context.configuration.nodes]
    for index, canary in enumerate(upgrade.canary):
        if canary not in names:
            near = nearest_name(canary, names)
            context.problems.error(
                "upgrade.canary-unknown",
                f"the canary {canary} does not exist",
                why="no node has that name",
                fix=f"write {near}" if near else "name a node of nodes.yaml",
                at=upgrade.origins.get(f"canary[{index}]") or upgrade.where("canary"),
            )
    for name, exception in upgrade.classes.items():
        if name not in context.configuration.classes:
            near = nearest_name(name, context.configuration.classes)
            context.problems.error(
                "class.unknown",
                f"there is no class {name}",
                why=f"the classes are: {', '.join(context.configuration.classes) or 'none'}",
                fix=f"write {near}" if near else "remove the exception",
                at=exception.where(),
            )
    _check_engine(context)
    _check_windows(context)
    _check_zones(context)


def _check_engine(context: RuleContext) -> None:
    upgrade = context.configuration.upgrade
    tuppr = context.configuration.components.get("tuppr")
    if tuppr is None or tuppr.enabled is None:
        return
    if tuppr.enabled and upgrade.engine == "stockman":
        context.problems.error(
            "upgrade.two-engines",
            "tuppr is on, but stockman carries upgrades out",
            why="two engines would reboot nodes without knowing of each other",
            fix="set `upgrade: {engine: tuppr}`, or switch the component off",
            at=tuppr.where("enabled"),
        )
    elif not tuppr.enabled and upgrade.engine == "tuppr":
        context.problems.error(
            "upgrade.no-engine",
            "tuppr carries upgrades out, but it is switched off",
            why="nobody would upgrade anything",
            fix="remove `enabled: false` from the component, or set the engine to stockman",
            at=tuppr.where("enabled"),
        )


def _check_windows(context: RuleContext) -> None:
    for window in context.configuration.upgrade.windows:
        if why := _window_problem(window.start):
            context.problems.error(
                "upgrade.window",
                "a window never opens",
                why=why,
                fix="write minute, hour, day, month and weekday, such as 0 3 * * 6",
                at=window.where("start"),
            )


def _window_problem(start: str) -> str:
    """Return why a window never opens. Empty: it opens."""
    try:
        schedule = parse_schedule(start)
    except ValueError:
        return f"`{start}` is no time of cron"
    is_ever = schedule.next_after(datetime(2026, 1, 1, tzinfo=UTC), UTC) is not None
    return "" if is_ever else f"no day is one of `{start}`"


def _check_zones(context: RuleContext) -> None:
    for window in context.configuration.upgrade.windows:
        if window.timezone == "UTC":
            continue
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(window.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            context.problems.error(
                "upgrade.timezone",
                f"the time zone {window.timezone} is not known",
                why="it is none of the names of the time zone database",
                fix="write a name such as Europe/Berlin, or UTC",
                at=window.where("timezone"),
            )


def check_backups(context: RuleContext) -> None:
    """Check backup targets."""
    backup = context.configuration.backup
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
    names: set[str] = set()
    for target in backup.targets:
        if target.name in names:
            context.problems.error(
                "backup.target-taken",
                f"two backup targets are called {target.name}",
                why="restores name the target they read from",
                fix="give each target a name of its own",
                at=target.where("name"),
            )
        names.add(target.name)
    if backup.enabled and not backup.targets:
        context.problems.error(
            "backup.no-target",
            "backups are on, but go nowhere",
            why="no target is given",
            fix=f"add {context.name('backup.targets[0].bucket')}, or `backup: {{targets: [...]}}`",
            at=backup.where("enabled"),
        )
