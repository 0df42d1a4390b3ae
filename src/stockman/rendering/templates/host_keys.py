"""SSH host keys of public Git servers, as published by their operators."""

from __future__ import annotations

from functools import cache

from stockman.model.package_file import read_package_text


@cache
def host_keys() -> tuple[str, ...]:
    """Return the lines of `known_hosts`; entries of unused servers are harmless."""
    text = read_package_text("stockman.rendering.templates", "known_hosts.txt")
    return tuple(text.splitlines())
