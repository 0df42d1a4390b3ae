"""Where a lab serves the repositories that files name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

_SCP = re.compile(r"(?:[^@/\s]+@)?([A-Za-z0-9.-]+):(?!//)(\S+)")


def place_of(url: str) -> str:
    """The path that a repository is served below: host and path of its URL, without credentials.

    >>> place_of("git@github.com:owner/repo.git")
    '/github.com/owner/repo.git'
    """
    found = _SCP.fullmatch(url)
    if found is not None and "://" not in url:
        return f"/{found[1]}/{found[2].strip('/')}"
    parts = urlsplit(url)
    return f"/{parts.hostname or 'localhost'}/{parts.path.strip('/')}"


def found_place(repositories: Mapping[str, str], path: str) -> tuple[Path, str] | None:
    """The repository that a path of a request is about, and the rest of it. None: there is none."""
    for url, directory in repositories.items():
        place = place_of(url)
        for known in {place, place.removesuffix(".git"), f"{place.removesuffix('.git')}.git"}:
            if path == known or path.startswith(f"{known}/"):
                return Path(directory), path[len(known) :]
    return None
