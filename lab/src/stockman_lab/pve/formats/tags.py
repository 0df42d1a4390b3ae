"""Tags of guests: sorted, in lower case, each once, with semicolons between them."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.pve.formats.lists import split_list


@dataclass(frozen=True, slots=True)
class TagStyle:
    """What the data centre says about tags."""

    case_sensitive: bool = False
    keep_order: bool = False


PLAIN = TagStyle()


def print_tags(text: str, style: TagStyle = PLAIN) -> str:
    """Tags as they are stored."""
    tags = split_list(text)
    if not style.keep_order:
        tags.sort(key=str if style.case_sensitive else str.lower)
    return ";".join(dict.fromkeys(tags if style.case_sensitive else map(str.lower, tags)))


def changed_tags(old: str, new: str) -> list[str]:
    """Tags that are added or taken away, sorted; a privilege may be needed for each."""
    before, after = split_list(old), split_list(new)
    return sorted(tag for tag in {*before, *after} if before.count(tag) != after.count(tag))
