"""SSH host keys of public Git servers, as their operators publish them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def host_keys() -> tuple[str, ...]:
    """Lines of `known_hosts`: an entry of a server that is not used does no harm."""
    text = files(__package__).joinpath("known_hosts.txt").read_text("utf-8")
    return tuple(text.splitlines())
