"""How guests of stockman are known in Proxmox VE: tags, and a line in their description."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stockman.model.record import record

TAG = "stockman"
TEMPLATE_TAG = f"{TAG}-template"
"""Of templates, before they are one and afterwards."""
_MARK_PATTERN = re.compile(
    r"^stockman: (?P<owner>\S+)/(?P<name>\S+)(?: scratch=(?P<scratch>\S+))?"
    r"(?: (?P<state>new|unfinished))?$",
    re.MULTILINE,
)
_INVALID_TAG_CHARACTERS = re.compile(r"[^a-z0-9_.+-]")


@record
class OwnerMark:
    """Whose a guest is."""

    owner: str
    """Name of the Kubernetes cluster, or of guests without one."""
    name: str
    """Name of the node or guest."""
    scratch: tuple[str, ...] = ()
    """Data disks that die with it."""
    is_new: bool = False
    """Whether nobody has started it yet. One that is not new and does not run was switched off."""
    is_unfinished: bool = False
    """Whether nobody has seen it made to its end."""


def render_mark(mark: OwnerMark, description: str) -> str:
    """The description of a guest: what the user says, and the line that says whose it is."""
    scratch = f" scratch={','.join(mark.scratch)}" if mark.scratch else ""
    line = f"stockman: {mark.owner}/{mark.name}{scratch}"
    state = " unfinished" if mark.is_unfinished else " new" if mark.is_new else ""
    return f"{description.strip()}\n\n{line}{state}".strip()


def parse_mark(description: str) -> OwnerMark | None:
    """Whose a guest is. None: not stockman's."""
    found = _MARK_PATTERN.search(description)
    if found is None:
        return None
    scratch = tuple(filter(None, (found["scratch"] or "").split(",")))
    return OwnerMark(
        owner=found["owner"],
        name=found["name"],
        scratch=scratch,
        is_new=found["state"] == "new",
        is_unfinished=found["state"] == "unfinished",
    )


def strip_mark(description: str) -> str:
    """What the user says of a guest."""
    return _MARK_PATTERN.sub("", description).strip()


def own_tags(owner: str, more: Sequence[str] = ()) -> tuple[str, ...]:
    """The tags of a guest: stockman's, and what the user gives it."""
    return (TAG, f"{TAG}-{_INVALID_TAG_CHARACTERS.sub('-', owner.lower())}", *more)
