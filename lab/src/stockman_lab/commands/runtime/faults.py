"""Faults as users write them down: on a command line, or in a file."""

from __future__ import annotations

from pathlib import Path

import yaml

from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman_lab.core.faults import Fault
from stockman_lab.core.saved import Unreadable, restored

_HTTP_ERRORS = range(400, 600)
_GRPC_CODES = range(1, 17)


@record
class Wanted:
    """A fault of a command line."""

    point: str
    effect: str | None
    match: tuple[str, ...] = ()
    message: str = ""
    status: int | None = None
    seconds: float = 0.0
    after: float | None = None
    lasting: float | None = None
    skip: int = 0
    times: str = "1"


def wanted_fault(accepted: Wanted, now: float) -> dict[str, object]:
    """A fault as the lab takes it."""
    if accepted.effect is None:
        raise _wrong(f"what should go wrong at {accepted.point} is missing")
    begin = None if accepted.after is None else now + accepted.after
    end = None if accepted.lasting is None else (begin or now) + accepted.lasting
    return _sensible(
        {
            "point": accepted.point,
            "effect": accepted.effect,
            "match": dict(_pair(one) for one in accepted.match),
            "message": accepted.message,
            "status": _status(accepted),
            "seconds": accepted.seconds,
            "since": begin,
            "until": end,
            "skip": accepted.skip,
            "times": _times(accepted.times),
        }
    )


def faults_of(file: str) -> list[dict[str, object]]:
    """The faults that a YAML file lists, each a mapping with `point` and `effect`; all or none."""
    try:
        data = yaml.safe_load(Path(file).read_bytes())
    except (OSError, yaml.YAMLError, UnicodeDecodeError):
        raise _wrong(f"{file} cannot be read as YAML") from None
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise _wrong(f"{file} is no list of mappings")
    return [_sensible({str(name): value for name, value in one.items()}) for one in data]


def _sensible(fault: dict[str, object]) -> dict[str, object]:
    """A fault that could strike; refuses others."""
    try:
        restored(Fault, fault)
    except Unreadable as error:
        raise _wrong(str(error).removeprefix("it is no Fault: ")) from None
    return fault


def _status(accepted: Wanted) -> int:
    """The status of an error. 0: the usual one of its point."""
    if accepted.status is None:
        return 0
    known = _GRPC_CODES if accepted.point == "talos-call" else _HTTP_ERRORS
    if accepted.status not in known:
        raise _wrong(
            f"errors at {accepted.point} have a status from {known.start} to {known.stop - 1},"
            f" and {accepted.status} is none"
        )
    return accepted.status


def _pair(text: str) -> tuple[str, str]:
    name, equals, pattern = text.partition("=")
    if not equals or not name:
        raise _wrong(f"{text!r} is not FACT=PATTERN")
    return name, pattern


def _times(text: str) -> int | None:
    if text == "always":
        return None
    if not text.isdigit() or int(text) == 0:
        raise _wrong(f"{text!r} is neither a number of times nor `always`")
    return int(text)


def _wrong(why: str) -> WrongUsage:
    return WrongUsage(
        Problem(
            code="lab.fault",
            what="that is no fault",
            why=why,
            fix="see `stockman lab fault --help` for points, effects and examples",
        )
    )
