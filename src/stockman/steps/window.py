"""Maintenance windows, in which machines may restart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, tzinfo
from typing import ClassVar

from stockman.model.record import record
from stockman.model.schedule import parse_duration, parse_schedule
from stockman.steps.base import Gate, GateAnswer, Verdict
from stockman.steps.ports import Ports

_ANY_TIME = "`stockman apply --any-time` does not wait"


@record
class MaintenanceWindow:
    """A maintenance window."""

    start: str
    """Five fields of cron."""
    duration: str
    timezone: str = "UTC"

    @property
    def zone(self) -> tzinfo:
        """Its time zone; raises `ValueError` if this machine does not know it."""
        if self.timezone == "UTC":
            return UTC
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            return ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, OSError):
            raise ValueError(f"the time zone {self.timezone} is not known here") from None

    def until(self, now: datetime) -> datetime | None:
        """Return when it closes. None: it is not open."""
        length = parse_duration(self.duration)
        opened = parse_schedule(self.start).latest_before(now, self.zone, length)
        return opened + length if opened is not None and now < opened + length else None

    def opens(self, now: datetime) -> datetime | None:
        """Return when it opens next. None: never."""
        return parse_schedule(self.start).next_after(now, self.zone)

    def format_time(self, moment: datetime) -> str:
        """Return a time as text in its time zone."""
        return f"{moment.astimezone(self.zone):%a %Y-%m-%d %H:%M} {self.timezone}"


def window_end(windows: Iterable[MaintenanceWindow], now: datetime) -> str:
    """Return when all open windows have closed, as text. Empty: none is open."""
    open_now = _window_times((window, window.until(now)) for window in windows)
    moment, window = max(open_now, key=lambda pair: pair[0], default=(now, None))
    return window.format_time(moment) if window is not None else ""


def next_window_start(windows: Iterable[MaintenanceWindow], now: datetime) -> str:
    """Return when the next window opens, as text. Empty: none does."""
    coming = _window_times((window, window.opens(now)) for window in windows)
    moment, window = min(coming, key=lambda pair: pair[0], default=(now, None))
    return window.format_time(moment) if window is not None else ""


def _window_times(
    windows: Iterable[tuple[MaintenanceWindow, datetime | None]],
) -> Iterator[tuple[datetime, MaintenanceWindow]]:
    return ((moment, window) for window, moment in windows if moment is not None)


@record
class WindowOpen(Gate):
    """Machines only restart while a window is open; a step that has begun is finished."""

    kind: ClassVar[str] = "window.open"
    opens_later: ClassVar[bool] = True
    windows: tuple[MaintenanceWindow, ...]

    @property
    def summary(self) -> str:
        return "a window of `upgrade.windows` is open"

    async def check(self, ports: Ports) -> Verdict:
        now = ports.clock.now()
        try:
            until = window_end(self.windows, now)
            following = next_window_start(self.windows, now)
        except ValueError as error:
            return Verdict(answer=GateAnswer.STOP, because=str(error), fix=_ANY_TIME)
        if until:
            return Verdict(answer=GateAnswer.GO, because=f"one is open until {until}")
        when = f"the next opens {following}" if following else "none opens again"
        return Verdict(
            answer=GateAnswer.STOP,
            because=f"no window of `upgrade.windows` is open; {when}",
            fix=f"go on then with `stockman runs resume`; {_ANY_TIME}",
        )
