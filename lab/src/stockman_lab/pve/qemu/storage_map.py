"""Which storage of another host gets what of which: `targetstorage`."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman_lab.pve.errors import ApiError, bad_parameters
from stockman_lab.pve.formats.lists import split_list


@dataclass(slots=True)
class StorageMap:
    """Pairs of storages, and one for all others."""

    entries: dict[str, str] = field(default_factory=dict)
    default: str = ""
    identity: bool = False
    """Whether all others keep their storage by name."""

    def target_of(self, storage: str) -> str:
        return self.entries.get(storage) or self.default or storage


def parse_storage_map(text: str) -> StorageMap:
    """`1` keeps names, `a:b` sends one storage to another, a name alone is for all others."""
    storage_map = StorageMap()
    for part in split_list(text):
        source, colon, target = part.partition(":")
        if part == "1":
            storage_map.identity = True
        elif colon:
            if source in storage_map.entries:
                raise _refused(f"duplicate mapping for source '{source}'")
            storage_map.entries[source] = target
        else:
            if storage_map.default:
                raise _refused("default target ID can only be provided once")
            storage_map.default = part
    if storage_map.identity and (storage_map.entries or storage_map.default):
        raise _refused("identity mapping cannot be combined with other mappings")
    return storage_map


def _refused(why: str) -> ApiError:
    return bad_parameters({"targetstorage": f"failed to parse storage map: {why}\n"})
