"""What a user has to be allowed for a change; `root@pam` itself needs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.lists import tag_changes
from stockman_lab.pve.formats.nic import vlans
from stockman_lab.pve.formats.volume_name import VolumeName, storage_of


@dataclass(frozen=True, slots=True)
class Need:
    """Privileges on a path."""

    path: str
    privileges: tuple[str, ...]
    any_of: bool = False
    """One of them is enough."""
    on_guest: bool = False
    """For a new guest, having them on its pool is enough."""
    moot_with: tuple[str, str] | None = None
    """Path and privilege that make the question needless."""
    said: str = ""
    """What the refusal says in its brackets, if not path and privileges."""


@dataclass(frozen=True, slots=True)
class OnlyRoot:
    """Something that nobody but `root@pam` may do, with the refusal of others."""

    status: int
    message: str
    parameter: str = ""
    moot_with: tuple[str, str] | None = None

    @property
    def error(self) -> ApiError:
        """The refusal."""
        if self.parameter:
            return bad_parameters({self.parameter: self.message})
        return ApiError(self.status, self.message) if self.status != 500 else die(self.message)


Asked: TypeAlias = Need | OnlyRoot


def on_guest(vmid: int, *privileges: str, any_of: bool = False) -> Need:
    """Privileges on one guest."""
    return Need(f"/vms/{vmid}", privileges, any_of=any_of, on_guest=True)


def forbidden(why: str) -> OnlyRoot:
    """A refusal that looks like a missing privilege."""
    return OnlyRoot(403, f"Permission check failed ({why})")


def gives_up(why: str) -> OnlyRoot:
    """A refusal in the middle of the work."""
    return OnlyRoot(500, why)


ALLOCATE_SPACE = "Datastore.AllocateSpace"


def _local(_bridge: str) -> str:
    return "localnetwork"


@dataclass(frozen=True, slots=True)
class TagRules:
    """What the data centre says about who may set which tag."""

    registered: frozenset[str] = frozenset()
    """Only for those who may change the data centre."""
    allowed: frozenset[str] = frozenset()
    anything_else: bool = True


@dataclass(frozen=True, slots=True)
class Guest:
    """The guest that a change is about, and where its names are looked up."""

    vmid: int
    name_of: Callable[[str], VolumeName]
    """What the name of a volume says; raises `ApiError`."""
    creating: bool = False
    zone_of: Callable[[str], str] = _local
    """The zone of a bridge or virtual network."""
    tag_rules: TagRules = field(default_factory=TagRules)


def volume_needs(guest: Guest, volume: str) -> list[Asked]:
    """What using an existing volume, or a path of the host, takes."""
    storage = storage_of(volume)
    if not storage:
        return [gives_up("Only root can pass arbitrary filesystem paths.")]
    name, path = guest.name_of(volume), f"/storage/{storage}"
    moot = (path, "Datastore.Allocate")
    if name.content in ("iso", "vztmpl", "import"):
        reading = (ALLOCATE_SPACE, "Datastore.Audit")
        return [Need(path, reading, any_of=True, moot_with=moot)]
    if name.owner == guest.vmid:
        return []
    if name.content == "backup" and name.owner:
        return [
            Need(path, (ALLOCATE_SPACE,), moot_with=moot),
            Need(f"/vms/{name.owner}", ("VM.Backup",), moot_with=moot),
        ]
    if name.content in ("images", "rootdir") and name.owner:
        return [
            Need(path, ("Datastore.Audit",), moot_with=moot),
            Need(f"/vms/{name.owner}", ("VM.Config.Disk",), moot_with=moot),
        ]
    return [OnlyRoot(500, f"missing privileges to access {volume}", moot_with=moot)]


def bridge_needs(guest: Guest, options: dict[str, str]) -> list[Asked]:
    """What plugging a card into a bridge takes: the bridge, or each VLAN of it."""
    bridge = options.get("bridge", "")
    if not bridge:
        return []
    path = f"/sdn/zones/{guest.zone_of(bridge)}/{bridge}"
    tags = [options["tag"]] if options.get("tag", "0") != "0" else []
    tags += vlans(options.get("trunks", ""))
    return [Need(f"{path}/{tag}", ("SDN.Use",)) for tag in tags] or [Need(path, ("SDN.Use",))]


def tag_needs(guest: Guest, old: str, new: str) -> list[Asked]:
    """What a change of tags takes."""
    rules = guest.tag_rules
    needed: list[Asked] = [on_guest(guest.vmid, "VM.Config.Options")]
    for tag in tag_changes(old, new):
        if tag in rules.registered or not (rules.anything_else or tag in rules.allowed):
            said = f"/, Sys.Modify for modifying tag '{tag}'"
            needed.append(Need("/", ("Sys.Modify",), said=said))
    return needed
