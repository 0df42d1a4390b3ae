"""Chooses the storages for disks and boot images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.planning.starter import problems
from stockman.planning.starter.observed import GIB, StarterHost, StarterStorage
from stockman.planning.starter.sizing import MachinePlacement

_FILES = ("dir", "nfs", "cifs", "cephfs", "btrfs")
"""Storage types for files, and so for images."""
_USED = 0.8
"""Share of a storage that disks may use."""


@record
class ChosenStorages:
    """The storages that were chosen."""

    disks: dict[str, str]
    """Storage for disks by host; a common one if possible."""
    images: str
    controller_disk: int
    """GiB."""
    worker_disk: int
    disks_why: str
    images_why: str

    @property
    def common(self) -> str | None:
        """The common storage for disks. None: it depends on the host."""
        names = set(self.disks.values())
        return names.pop() if len(names) == 1 else None

    @property
    def names(self) -> tuple[str, ...]:
        """All chosen storages."""
        return tuple(dict.fromkeys((*sorted(set(self.disks.values())), self.images)))


def choose_storages(hosts: Sequence[StarterHost], placing: MachinePlacement) -> ChosenStorages:
    """Choose storages that all hosts with machines have. `Refused` if there are none."""
    used = [host for host in hosts if placing.count_on(host.name)]
    images, images_why = _images(used)
    disks, share, disks_why = _disks(used, placing)
    worker = placing.worker or placing.controller
    return ChosenStorages(
        disks=disks,
        images=images,
        controller_disk=_disk(placing.controller.disk, placing.controller.least_disk, share),
        worker_disk=_disk(worker.disk, worker.least_disk, share),
        disks_why=disks_why,
        images_why=images_why,
    )


def _disk(size: int, least: int, share: float) -> int:
    return max(min(size, int(size * share)), least)


def _images(hosts: Sequence[StarterHost]) -> tuple[str, str]:
    common = [
        rows for rows in _common(hosts) if all("import" in storage.content for storage in rows)
    ]
    fit = [
        rows
        for rows in common
        if all(
            storage.free is None or storage.free >= problems.IMAGE_ROOM * GIB for storage in rows
        )
    ]
    if not fit:
        raise Refused(
            problems.no_import_storage(_names(hosts), _storage_summary(hosts), _switch(hosts))
        )
    best = min(fit, key=lambda rows: (not rows[0].shared, -_least(rows), rows[0].name))
    return best[0].name, _why(best, "allows content `import`")


def _disks(
    hosts: Sequence[StarterHost], placing: MachinePlacement
) -> tuple[dict[str, str], float, str]:
    """Choose storages by host; return them with the share of the disks that fits, and the
    reason."""
    common = _best(_common(hosts), hosts, placing)
    if common is not None:
        share, rows = common
        names = {str(host.name): rows[0].name for host in hosts}
        return names, share, _why(rows, "allows disk images")
    own = [_best(([storage] for storage in host.storages), [host], placing) for host in hosts]
    best = [choice for choice in own if choice is not None]
    if len(best) < len(hosts):
        need = f"machines need at least {placing.controller.least_disk} GiB each, on a storage for"
        raise Refused(
            problems.no_disk_storage(_names(hosts), _storage_summary(hosts), f"{need} `images`")
        )
    names = {str(host.name): rows[0].name for host, (_, rows) in zip(hosts, best, strict=True)}
    why = "no storage for disk images is on every host, so each uses the one with most free space"
    return names, min(share for share, _ in best), why


def _best(
    choices: Iterable[list[StarterStorage]], hosts: Sequence[StarterHost], placing: MachinePlacement
) -> tuple[float, list[StarterStorage]] | None:
    """Choose the best storage for disks, shared ones first. None: none has enough space."""
    fits = [
        (share, rows)
        for rows in choices
        if all("images" in storage.content and storage.available for storage in rows)
        and (share := _share(hosts, rows, placing)) > 0
    ]
    if not fits:
        return None
    return min(
        fits, key=lambda choice: (not choice[1][0].shared, -min(choice[0], 1.0), choice[1][0].name)
    )


def _share(
    hosts: Sequence[StarterHost], rows: Sequence[StarterStorage], placing: MachinePlacement
) -> float:
    """Return the share of the desired disks that fits. 0: not even the minimum."""
    pairs = list(zip(hosts, rows, strict=True))
    if rows[0].shared:
        least = sum(placing.disk_on(host.name) for host in hosts)
        desired_size = sum(placing.size_of(machine).disk for machine in placing.machines)
        return _fill(rows[0].free, desired_size, least)
    return min(
        _fill(row.free, _bytes_needed_for_disks(host, placing), placing.disk_on(host.name))
        for host, row in pairs
    )


def _bytes_needed_for_disks(host: StarterHost, placing: MachinePlacement) -> int:
    return sum(
        placing.size_of(machine).disk for machine in placing.machines if machine.host == host.name
    )


def _fill(free: int | None, size: int, least: int) -> float:
    if free is None:
        return 1.0
    usable = free * _USED / GIB
    return 0.0 if usable < least else usable / size


def _common(hosts: Sequence[StarterHost]) -> Iterator[list[StarterStorage]]:
    """Return storages that are available on every host, each with its row per host."""
    for first in hosts[0].storages:
        rows = [
            storage for host in hosts for storage in host.storages if storage.name == first.name
        ]
        if len(rows) == len(hosts) and all(storage.available for storage in rows):
            yield rows


def _least(rows: Sequence[StarterStorage]) -> int:
    return min(storage.free if storage.free is not None else 0 for storage in rows)


def _why(rows: Sequence[StarterStorage], purpose: str) -> str:
    each = "on every host" if len(rows) > 1 else "on the host"
    where = "shared by all hosts" if rows[0].shared else each
    known_sizes = [storage.free for storage in rows if storage.free is not None]
    room = f", {min(known_sizes) // GIB} GiB free" if known_sizes else ""
    if not rows[0].shared and len(rows) > 1 and known_sizes:
        room = f", at least {min(known_sizes) // GIB} GiB free on each"
    return f"{purpose}; {rows[0].kind}, {where}{room}"


def _switch(hosts: Sequence[StarterHost]) -> tuple[str, str] | None:
    for rows in _common(hosts):
        if rows[0].kind in _FILES and "import" not in rows[0].content:
            return rows[0].name, ",".join(sorted({*rows[0].content, "import"}))
    return None


def _names(hosts: Sequence[StarterHost]) -> list[str]:
    return [str(host.name) for host in hosts]


def _storage_summary(hosts: Sequence[StarterHost]) -> str:
    descriptions = {storage.name: _describe(storage) for host in hosts for storage in host.storages}
    return "; ".join(descriptions[name] for name in sorted(descriptions)) or "none"


def _describe(storage: StarterStorage) -> str:
    content = ", ".join(sorted(storage.content)) or "nothing"
    room = "" if storage.free is None else f", {storage.free // GIB} GiB free"
    state = "" if storage.available else ", not available"
    return f"{storage.name} ({storage.kind}) for {content}{room}{state}"
