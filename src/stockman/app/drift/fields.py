"""What differs between an object as it is rendered and the one in the cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from stockman.model.record import record
from stockman.model.secret import Secret

_SUBSTITUTED = "${"
"""Flux puts values of Secrets in place of it, so what comes out is not known here."""
_LONGEST = 80


@record
class FieldDifference:
    """One field with both of its values."""

    path: tuple[str, ...]
    found: object
    """None: it is not there."""
    wanted: object

    @property
    def key(self) -> str:
        return ".".join(self.path)


def differing_fields(
    wanted: object, found: object, path: tuple[str, ...] = ()
) -> Iterator[FieldDifference]:
    """Fields that are rendered and are otherwise in the cluster; what others add does not count."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for name, value in wanted.items():
            yield from differing_fields(value, found.get(name), (*path, str(name)))
    elif not _is_same(wanted, found):
        yield FieldDifference(path=path, found=found, wanted=wanted)


def _is_same(wanted: object, found: object) -> bool:
    if isinstance(wanted, Secret):
        return True
    if isinstance(wanted, str):
        return _SUBSTITUTED in wanted or wanted == found
    if isinstance(wanted, Mapping):
        if not isinstance(found, Mapping):
            return not wanted and found is None
        return all(_is_same(value, found.get(name)) for name, value in wanted.items())
    if isinstance(wanted, Sequence):
        if not isinstance(found, Sequence) or isinstance(found, str):
            return not wanted and found is None
        return len(wanted) == len(found) and all(map(_is_same, wanted, found))
    return wanted == found


def shown_value(value: object) -> str | None:
    """A value in a line. None: there is none."""
    if value is None:
        return None
    told = value if isinstance(value, str) else json.dumps(value, default=_plain)
    line = " ".join(told.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
