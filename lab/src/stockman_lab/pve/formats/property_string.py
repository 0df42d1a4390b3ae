"""Property strings: `key=value` pairs between commas, read by a format and printed in one order.

The schema of the API has verified the values of requests before: only keys are checked here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.sizes import format_size, parse_size
from stockman_lab.pve.property_pairs import BadPairs, read_pairs

MISSING = "property is missing and it is not optional"


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What is special about one key; keys of plain texts need not be listed in a format."""

    kind: Literal["string", "boolean"] = "string"
    required: bool = False
    default_key: bool = False
    """Its value may stand alone, without the key."""
    alias: str = ""
    """The key that is meant."""
    kept_in: str = ""
    """The key whose value is the name of this one: `virtio=MAC` for `model=virtio,macaddr=MAC`."""
    is_size: bool = False
    """Read by the parser of sizes and printed by its formatter; the value is a number of bytes."""


Format: TypeAlias = Mapping[str, Property]
BOOLEAN = Property(kind="boolean")
DEFAULT_KEY = Property(default_key=True)
REQUIRED_DEFAULT_KEY = Property(required=True, default_key=True)


def booleans(names: str) -> dict[str, Property]:
    """The part of a format that lists keys of booleans, given with blanks between them."""
    return dict.fromkeys(names.split(), BOOLEAN)


def parse(known: Format, text: str, skip: Collection[str] = frozenset()) -> dict[str, str]:
    """Values by key; raises `FormatError`. Booleans are `1` and `0`, aliases are resolved."""
    try:
        pairs = read_pairs(text, known, default_key(known), skip=skip)
    except BadPairs as error:
        raise FormatError(str(error)) from None
    for key, what in known.items():
        if what.required and key not in pairs:
            raise FormatError("format error", {key: MISSING})
        if what.is_size and key in pairs:
            pairs[key] = str(parse_size(pairs[key]))
    return pairs


def default_key(known: Format) -> str:
    """The key whose value may stand alone, or nothing."""
    return next((key for key, what in known.items() if what.default_key), "")


def print_properties(known: Format, values: Mapping[str, str]) -> str:
    """The canonical text: the default key bare, then required keys, then others, each sorted."""
    combined = {what.kept_in: what.alias for what in known.values() if what.kept_in}
    first = default_key(known)
    required = sorted(key for key in values if key in known and known[key].required)
    done: set[str] = set()
    texts: list[str] = []
    for key in (first, *required, *sorted(values)):
        if key in done or key not in values:
            continue
        done.add(key)
        text = values[key]
        if key in known and known[key].is_size:
            text = format_size(int(text))
        partner = combined.get(key, "")
        if partner in values:
            done.add(partner)
            texts.append(f"{text}={values[partner]}")
        else:
            texts.append(text if key == first else f"{key}={text}")
    return ",".join(texts)
