"""SSH host keys of public Git servers, as their operators publish them."""

from __future__ import annotations

from functools import cache

from stockman.model.package_file import read_package_text


@cache
def host_keys() -> tuple[str, ...]:
    """Lines of `known_hosts`: an entry of a server that is not used does no harm."""
    text = read_package_text("stockman.rendering.templates", "known_hosts.txt")
    return tuple(text.splitlines())
