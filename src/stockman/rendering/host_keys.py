"""SSH host keys of Git servers, which Flux has to know before it fetches a repository."""

from __future__ import annotations

from stockman.model.git_address import git_server
from stockman.rendering.templates.host_keys import host_keys


def known_hosts(url: str, given: str | None) -> str:
    """The host keys for a repository: those that come with stockman, then those that are given."""
    server = git_server(url)
    lines = [line for line in host_keys() if line.split(" ", 1)[0] == server]
    lines += [line.strip() for line in (given or "").splitlines() if line.strip()]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))
