"""What is true of nodes and pods."""

from __future__ import annotations

from stockman.kubernetes.rows import Row, part, parts, text, text_or_none
from stockman.ports.kubernetes.nodes import Condition


def conditions(row: Row) -> tuple[Condition, ...]:
    """All conditions that a status tells."""
    return tuple(
        Condition(
            type=text(one, "type"),
            status=text(one, "status"),
            reason=text_or_none(one, "reason"),
            message=text_or_none(one, "message"),
        )
        for one in parts(part(row, "status"), "conditions")
    )
