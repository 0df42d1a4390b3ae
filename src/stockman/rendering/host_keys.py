"""SSH host keys of Git servers, which Flux has to know before it fetches a repository."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from stockman.model.git_address import git_server

_KEYS = Path(__file__).parent / "known_hosts"


def known_hosts(url: str, given: str | None) -> str:
    """The host keys for a repository: those that come with stockman, then those that are given."""
    server = git_server(url)
    lines = [line for line in _bundled() if line.split(" ", 1)[0] == server]
    lines += [line.strip() for line in (given or "").splitlines() if line.strip()]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))


@cache
def _bundled() -> tuple[str, ...]:
    return tuple(_KEYS.read_text().splitlines())
