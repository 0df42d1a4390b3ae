"""Checks of the machine that stockman runs on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from stockman.app.doctor.check import CheckInput, CheckResult, check, fail, ok, unknown, warn
from stockman.model.tables import TABLE_NAMES, table_info

_MIB = 1024**2
_LITTLE = 2048 * _MIB
_TOO_LITTLE = 200 * _MIB


@check("machine.python")
def python(scene: CheckInput) -> Iterator[CheckResult]:
    """The version of Python is one that stockman runs on."""
    yield ok("Python", scene.machine.python())


@check("machine.encoding")
def encoding(scene: CheckInput) -> Iterator[CheckResult]:
    """The terminal takes every character."""
    name = scene.machine.encoding()
    if name.replace("_", "-") in ("utf-8", "utf8"):
        yield ok("output", name)
    else:
        yield warn(
            "output",
            f"its encoding is {name}, so some characters are written as escapes",
            "use a UTF-8 locale: `export LC_ALL=C.UTF-8`",
        )


@check("machine.disk")
def disk(scene: CheckInput) -> Iterator[CheckResult]:
    """There is room for files, here and for temporary ones."""
    temporary = scene.machine.temporary()
    for subject, path in (
        ("this directory", scene.directory),
        (f"temporary files ({temporary})", temporary),
    ):
        room = scene.machine.space(path)
        if room is None:
            yield unknown(subject, "the system does not tell its room", f"see `df {path}`")
            continue
        summary = f"{_describe_size(room.free)} free"
        if not room.writable:
            yield fail(subject, "it may not be written", f"see `ls -ld {path}`")
        elif room.free < _TOO_LITTLE:
            yield fail(subject, summary, f"make room: at least {_describe_size(_LITTLE)}")
        elif room.free < _LITTLE:
            yield warn(subject, summary, f"make room: {_describe_size(_LITTLE)} are enough")
        else:
            yield ok(subject, summary)


@check("machine.date")
def date(scene: CheckInput) -> Iterator[CheckResult]:
    """The date is one on which this version of stockman existed."""
    refreshed = max(table_info(name).refreshed for name in TABLE_NAMES)
    earliest = datetime.fromisoformat(refreshed).replace(tzinfo=UTC) - timedelta(days=1)
    now = scene.clock.now()
    today = f"{now:%Y-%m-%d}"
    if now >= earliest:
        yield ok("date", today)
    else:
        yield warn(
            "date",
            f"it is {today} here, and this stockman has tables of {refreshed}",
            "set the clock; certificates made with a wrong one are refused",
        )


def _describe_size(size: int) -> str:
    return f"{size / 1024**3:.1f} GiB" if size >= 1024 * _MIB else f"{size // _MIB} MiB"


CHECKS = (python, encoding, disk, date)
