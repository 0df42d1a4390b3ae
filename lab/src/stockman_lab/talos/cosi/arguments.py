"""Arguments of programs as resources show them."""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.talos.config.kubernetes_setting import Arguments

_SINGLE = ("1.11", "1.12")
"""Minors where an argument has one value."""


def arguments(minor: str, told: Arguments) -> dict[str, object]:
    """Those of a configuration, in the form of a minor."""
    if minor in _SINGLE:
        return {name: values[-1] if values else "" for name, values in told.items()}
    return {name: {"values": list(values)} for name, values in told.items()}


def command(program: str, own: Mapping[str, str], told: Arguments) -> list[str]:
    """A command line: own arguments in order, overruled by those of the configuration."""
    merged: dict[str, tuple[str, ...]] = {name: (text,) for name, text in own.items()}
    merged |= told
    line = [f"--{name}={value}" for name in sorted(merged) for value in merged[name]]
    return [program, *line] if program else line
