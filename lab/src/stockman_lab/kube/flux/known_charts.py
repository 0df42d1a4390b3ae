"""What registries and chart repositories hold, as far as the lab knows."""

from __future__ import annotations

from collections.abc import Callable

Known = Callable[[str, str], bool]
"""Whether there is something at a URL under a tag or a version; an empty tag: anything at all."""
Tags = Callable[[str], list[str]]
"""The tags of a URL."""

_known: list[Known] = []
_tags: list[Tags] = []


def register(known: Known, tags: Tags | None = None) -> None:
    """Have somebody asked who knows of charts; each is asked once however often it registers."""
    if known not in _known:
        _known.append(known)
    if tags is not None and tags not in _tags:
        _tags.append(tags)


def chart_known(url: str, tag: str = "") -> bool:
    """Whether a chart or an artifact can be had."""
    return any(known(url, tag) for known in _known)


def tags_of(url: str) -> list[str]:
    """All tags of a URL that anybody knows of."""
    return [tag for tags in _tags for tag in tags(url)]
