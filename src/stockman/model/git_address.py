"""Addresses of Git repositories."""

from __future__ import annotations

from urllib.parse import urlsplit


def git_host(url: str) -> str:
    """Return the host of a Git URL, including the short form `git@host:owner/name`."""
    if "://" in url:
        return urlsplit(url).hostname or ""
    return url.partition("@")[2].partition(":")[0]
