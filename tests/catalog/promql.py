"""Names of metrics in an expression of Prometheus."""

from __future__ import annotations

import re

_INSIDE = re.compile(r"\{[^{}]*\}|\[[^\]]*\]|\"[^\"]*\"")
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\([^)]*\)")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
WORDS = {
    *("absent", "and", "avg", "count", "histogram_quantile", "increase", "max", "min", "or"),
    *("rate", "sum", "time", "unless", "vector"),
}
"""Functions and operators that are used; one that is not here is taken for a metric."""


def metric_names(expr: str) -> set[str]:
    """Every metric that an expression reads."""
    bare = _GROUPING.sub(" ", _INSIDE.sub(" ", expr))
    return {name for name in _NAME.findall(bare) if name not in WORDS}
