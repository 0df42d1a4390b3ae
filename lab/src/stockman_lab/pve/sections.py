"""Configuration files of sections: their digests, their values in their kinds, and changes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping

from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema.schema import Schema

CHANGED = "detected modified configuration - file changed by other user? Try again."


def text_digest(text: str) -> str:
    """The digest of a file."""
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def digest_of(sections: Mapping[str, Section]) -> str:
    """The digest of a file of sections."""
    lines: list[str] = []
    for section in sections.values():
        lines.append(f"{section.type}: {section.id}")
        lines += (f"\t{name} {value}" for name, value in sorted(section.options.items()))
        lines += (f"\t{name} {one}" for name, many in section.lists.items() for one in many)
    return text_digest("\n".join(lines))


def refuse_changed(current: str, given: str) -> None:
    """Refuse a change by somebody who looked at another state of a file."""
    if given and given != current:
        raise die(CHANGED)


def in_kinds(
    profile: str, path: str, options: Mapping[str, str], method: str = "POST"
) -> dict[str, object]:
    """Values in the kinds that the call that writes them at a path takes them in."""
    known = Schema.of(profile).operation(method, path).parameters
    return {
        name: _in_kind(value, known[name].shape.kind if name in known else "string")
        for name, value in options.items()
    }


def texts(params: Mapping[str, object], without: Collection[str] = ()) -> dict[str, str]:
    """Scalar parameters as a file holds them."""
    return {
        name: str(value)
        for name, value in params.items()
        if name not in without and not isinstance(value, list)
    }


def delete_options(
    section: Section, names: str, required: Iterable[str], optional: Iterable[str]
) -> None:
    """Take options away; refused where a section cannot be without them."""
    for name in split_list(names):
        if name in required:
            raise die(f"unable to delete required option '{name}'")
        if name not in optional:
            raise die(f"no such option '{name}'")
        section.options.pop(name, None)


def _in_kind(value: str, kind: str) -> object:
    if kind in {"integer", "boolean"} and value.lstrip("-").isdigit():
        return int(value)
    return value
