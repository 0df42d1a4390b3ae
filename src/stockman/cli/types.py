"""Types of option values: networks, addresses, durations."""

from __future__ import annotations

import re
from datetime import timedelta
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import click


class Network(click.ParamType[IPv4Network]):
    """An IPv4 network without host bits."""

    name = "cidr"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IPv4Network:
        if isinstance(value, IPv4Network):
            return value
        try:
            loose = IPv4Network(value, strict=False)
        except ValueError:
            self.fail(f"{value!r} is not an IPv4 network such as 127.66.0.0/16", param, ctx)
        if "/" not in value or str(loose.network_address) != value.partition("/")[0]:
            self.fail(f"{value!r} is an address; the network is {loose}", param, ctx)
        return loose


class Address(click.ParamType[IPv4Address]):
    """An IPv4 address."""

    name = "address"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IPv4Address:
        try:
            return IPv4Address(value)
        except ValueError:
            self.fail(f"{value!r} is not an IPv4 address such as 127.66.0.1", param, ctx)


NETWORK = Network()
ADDRESS = Address()


_DURATION = re.compile(r"(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


class Duration(click.ParamType[timedelta]):
    """A duration: `90s`, `10m` or `1h30m`; a bare number is seconds."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = _DURATION.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a duration such as 90s, 10m or 1h30m", param, ctx)
        hours, minutes, seconds = (int(group or 0) for group in match.groups())
        return timedelta(hours=hours, minutes=minutes, seconds=seconds)
