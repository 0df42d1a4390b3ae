"""Lists of JSON operations as the parts of a configuration that they change."""

from __future__ import annotations

from stockman.config.source.tree import Mapping, Scalar, Sequence, untyped
from stockman.talos.machine.facts import Document


def as_part(operations: Sequence) -> list[Document] | None:
    """One part for each operation. None: one of them has no such form.

    Only what means the same whatever stands there: single values set, and keys removed.
    """
    found: list[Document] = []
    for item in operations.items:
        part = _part(item) if isinstance(item, Mapping) else None
        if part is None:
            return None
        found.append(part)
    return found


def _part(operation: Mapping) -> Document | None:
    op, path, value = (operation.get(key) for key in ("op", "path", "value"))
    if not isinstance(op, Scalar) or not isinstance(path, Scalar) or path.text[:1] != "/":
        return None
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.text[1:].split("/")]
    if any(step == "-" or step.isdecimal() or not step for step in steps):
        return None
    if op.text in ("add", "replace") and isinstance(value, Scalar):
        last: object = untyped(value)
    elif op.text == "remove":
        last = {"$patch": "delete"}
    else:
        return None
    for step in reversed(steps):
        last = {step: last}
    return last if isinstance(last, dict) else None
