"""How guests of stockman are recognized in Proxmox VE: by tags and a line in their description."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stockman.model.record import record

TAG = "stockman"
TEMPLATE_TAG = f"{TAG}-template"
"""Tag of templates, also before they are converted."""
_MARK_PATTERN = re.compile(
    r"^stockman: (?P<owner>\S+)/(?P<name>\S+)(?: scratch=(?P<scratch>\S+))?"
    r"(?: (?P<state>new|unfinished))?$",
    re.MULTILINE,
)
_INVALID_TAG_CHARACTERS = re.compile(r"[^a-z0-9_.+-]")


@record
class OwnerMark:
    """The owner of a guest."""

    owner: str
    """Name of the Kubernetes cluster, or of the configuration if it has none."""
    name: str
    """Name of the node or guest."""
    scratch: tuple[str, ...] = ()
    """Data disks that are deleted with the guest."""
    is_new: bool = False
    """Whether it was never started. A stopped guest without this mark was powered off."""
    is_unfinished: bool = False
    """Whether its creation is not known to have succeeded."""


def render_mark(mark: OwnerMark, description: str) -> str:
    """Return the description of a guest: the text of the user and the line with the owner."""
    scratch = f" scratch={','.join(mark.scratch)}" if mark.scratch else ""
    line = f"stockman: {mark.owner}/{mark.name}{scratch}"
    state = " unfinished" if mark.is_unfinished else " new" if mark.is_new else ""
    return f"{description.strip()}\n\n{line}{state}".strip()


def parse_mark(description: str) -> OwnerMark | None:
    """Return the owner of a guest. None: it is not managed by stockman."""
    match = _MARK_PATTERN.search(description)
    if match is None:
        return None
    scratch = tuple(filter(None, (match["scratch"] or "").split(",")))
    return OwnerMark(
        owner=match["owner"],
        name=match["name"],
        scratch=scratch,
        is_new=match["state"] == "new",
        is_unfinished=match["state"] == "unfinished",
    )


def strip_mark(description: str) -> str:
    """Return the text of the user in a description."""
    return _MARK_PATTERN.sub("", description).strip()


def own_tags(owner: str, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the tags of a guest: those of stockman and those of the user."""
    return (TAG, f"{TAG}-{_INVALID_TAG_CHARACTERS.sub('-', owner.lower())}", *more)
