"""How guests of stockman are recognized in Proxmox VE: by tags and a line in their description."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from stockman.model.proxmox_values import parse_tags
from stockman.model.record import record
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.identity import GuestIdentity

TAG = "stockman"
TEMPLATE_TAG = f"{TAG}-template"
"""Tag of templates, also before they are converted."""
_MARK_PATTERN = re.compile(
    r"^stockman: (?P<owner>\S+)/(?P<name>\S+)(?: id=(?P<fingerprint>[0-9a-f]+))?"
    r"(?: guest=(?P<guest>\S+))?(?: scratch=(?P<scratch>\S+))?"
    r"(?: (?P<state>new|unfinished))?$",
    re.MULTILINE,
)
_INVALID_TAG_CHARACTERS = re.compile(r"[^a-z0-9_.+-]")


@record
class GuestOwner:
    """Who owns guests."""

    name: str
    """Name of the Kubernetes cluster, or of the configuration if it has none."""
    fingerprint: str = ""
    """Fingerprint of its identity. Empty: unknown, so that no guest is known to be its own."""
    earlier: str = ""
    """Fingerprint that it had before it had a cluster. Empty: it always had this one."""


@record
class OwnerMark:
    """The owner of a guest, and the guest that the mark was written for."""

    owner: str
    """Name of the owner."""
    name: str
    """Name of the node or guest."""
    fingerprint: str = ""
    """Fingerprint of the owner. Empty: written by an older version, without proof."""
    guest: str = ""
    """Region, VMID and UUID of the guest. Empty: written by an older version."""
    scratch: tuple[str, ...] = ()
    """Data disks that are deleted with the guest."""
    is_new: bool = False
    """Whether it was never started. A stopped guest without this mark was powered off. A node keeps
    it until it has joined its cluster, and never gets a first configuration without it."""
    is_unfinished: bool = False
    """Whether its creation is not known to have succeeded."""

    @property
    def vmid(self) -> str:
        """VMID of the guest that the mark was written for. Empty: unknown."""
        return self.guest.partition("/")[2].partition("/")[0]


class Ownership(Enum):
    """Whose guest an observed guest is, by its tag and mark."""

    OURS = "ours"
    """The mark proves owner and guest."""
    OLD_MARK = "old mark"
    """The mark has our name and no fingerprint: it proves nothing."""
    COPY = "copy"
    """The mark has our fingerprint, but was written for another guest: restored or cloned."""
    OTHER_CLUSTER = "other cluster"
    """The mark has another owner."""
    UNMARKED = "unmarked"
    """It has no tag or no mark of stockman."""


def guest_key(identity: GuestIdentity) -> str:
    """Return region, VMID and UUID of a guest as text; a container has no UUID."""
    key = f"{identity.cluster}/{identity.vmid}"
    return f"{key}/{identity.uuid}" if identity.uuid is not None else key


def build_mark(
    owner: GuestOwner, identity: GuestIdentity, scratch: Sequence[str] = ()
) -> OwnerMark:
    """Return the mark of a guest; without a fingerprint it names only owner and guest."""
    return OwnerMark(
        owner=owner.name,
        name=identity.name,
        fingerprint=owner.fingerprint,
        guest=guest_key(identity) if owner.fingerprint else "",
        scratch=tuple(scratch),
    )


def render_mark(mark: OwnerMark, description: str) -> str:
    """Return the description of a guest: the text of the user and the line with the owner."""
    line = f"stockman: {mark.owner}/{mark.name}"
    line += f" id={mark.fingerprint}" if mark.fingerprint else ""
    line += f" guest={mark.guest}" if mark.guest else ""
    line += f" scratch={','.join(mark.scratch)}" if mark.scratch else ""
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
        fingerprint=match["fingerprint"] or "",
        guest=match["guest"] or "",
        scratch=scratch,
        is_new=match["state"] == "new",
        is_unfinished=match["state"] == "unfinished",
    )


def ownership_of(owner: GuestOwner, identity: GuestIdentity, config: VmConfig) -> Ownership:
    """Return whose guest an observed guest is; `identity` is the observed one."""
    mark = parse_mark(config.get("description"))
    if mark is None or TAG not in parse_tags(config.get("tags")):
        return Ownership.UNMARKED
    if mark.owner != owner.name:
        return Ownership.OTHER_CLUSTER
    if mark.fingerprint in ("", owner.earlier):
        return Ownership.OLD_MARK
    if mark.fingerprint != owner.fingerprint:
        return Ownership.OTHER_CLUSTER
    is_this = (mark.guest, mark.name) == (guest_key(identity), identity.name)
    return Ownership.OURS if is_this else Ownership.COPY


def other_fingerprint(owner: GuestOwner, config: VmConfig) -> str:
    """Return the fingerprint in the mark of a guest if it is not the owner's, otherwise nothing."""
    mark = parse_mark(config.get("description"))
    own = ("", owner.fingerprint, owner.earlier)
    return "" if mark is None or mark.fingerprint in own else mark.fingerprint


def strip_mark(description: str) -> str:
    """Return the text of the user in a description."""
    return _MARK_PATTERN.sub("", description).strip()


def own_tags(owner: str, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the tags of a guest: those of stockman and those of the user."""
    return (TAG, f"{TAG}-{_INVALID_TAG_CHARACTERS.sub('-', owner.lower())}", *more)
