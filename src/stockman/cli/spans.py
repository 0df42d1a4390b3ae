"""Spans of time on the command line."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import click

_FORM = re.compile(r"(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


class Span(click.ParamType[timedelta]):
    """`90s`, `10m` or `1h30m`; a bare number is seconds."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = _FORM.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no span of time such as 90s, 10m or 1h30m", param, ctx)
        hours, minutes, seconds = (int(one or 0) for one in found.groups())
        return timedelta(hours=hours, minutes=minutes, seconds=seconds)
