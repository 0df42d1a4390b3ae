"""The status of a cluster for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.cli.problems import problem_data
from stockman.model.record import plain

if TYPE_CHECKING:
    from stockman.app.status.finding import Check, Part
    from stockman.app.status.node import NodeStatus
    from stockman.app.status.status import Status


def status_data(status: Status) -> dict[str, object]:
    """Everything that was seen and judged; problems first."""
    return {
        "cluster": status.cluster,
        "at": status.at.isoformat(),
        "healthy": status.healthy,
        "health": status.health.value,
        "problems": problems_data(status),
        "parts": [_part(one) for one in status.parts],
        "nodes": [_node(one) for one in status.nodes],
        "calls": dict(status.calls),
    }


def problems_data(status: Status) -> list[dict[str, object]]:
    """Every problem once, errors first, each with its check and what it is about."""
    checks: dict[object, Check] = {}
    for part in status.parts:
        for one in part.findings:
            checks.setdefault(one.problem, part.check)
    return [
        {
            "check": checks[one.problem].value,
            "subject": one.subject,
            "unknown": one.unknown,
            **problem_data(one.problem),
        }
        for one in status.findings
    ]


def _part(part: Part) -> dict[str, object]:
    return {
        "check": part.check.value,
        "health": part.health.value,
        "seen": part.seen,
        "items": plain(part.items),
    }


def _node(node: NodeStatus) -> dict[str, object]:
    found = plain(node)
    return {"health": node.health.value, **(found if isinstance(found, dict) else {})}
