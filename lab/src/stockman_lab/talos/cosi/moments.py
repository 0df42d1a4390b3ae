"""Moments as texts."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_text(at: float) -> str:
    """`2026-01-31T12:00:00Z` of seconds since 1970."""
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
