"""Tickets and CSRF prevention tokens."""

from __future__ import annotations

KEY = bytes(32)
USER = "ann@pve"
