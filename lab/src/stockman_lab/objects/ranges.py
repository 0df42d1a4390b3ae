"""Parts of objects that are asked for."""

from __future__ import annotations

import re

from stockman_lab.objects.refusals import ObjectsError

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def asked_range(text: str, size: int) -> range | None:
    """The bytes that a header means. None: all of them."""
    found = _RANGE.fullmatch(text)
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found[1], found[2]
    if first and last and int(first) > int(last):
        return None
    if first:
        part = range(int(first), min(int(last) + 1 if last else size, size))
    else:
        part = range(max(size - int(last), 0), size)
    if not part:
        raise ObjectsError(
            416,
            "InvalidRange",
            "The requested range is not satisfiable",
            ActualObjectSize=str(size),
            RangeRequested=text,
        )
    return part
