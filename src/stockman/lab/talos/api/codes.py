"""Codes that a call of a machine ends with: those that the product's own calls know."""

from __future__ import annotations

from stockman.talos.api.codes import Code

__all__ = ["Code"]
