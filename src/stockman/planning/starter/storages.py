"""Which storages hold the disks of machines and the images that they boot from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.planning.starter import problems
from stockman.planning.starter.observed import GIB, StarterHost, StarterStorage
from stockman.planning.starter.sizing import MachinePlacement

_FILES = ("dir", "nfs", "cifs", "cephfs", "btrfs")
"""Kinds that can hold files, and so images."""
_USED = 0.8
"""Share of a storage that disks may fill."""


@record
class ChosenStorages:
    """The storages that were chosen."""

    disks: dict[str, str]
    """The storage for disks of each host; one for all wherever there is one."""
    images: str
    controller_disk: int
    """GiB."""
    worker_disk: int
    disks_why: str
    images_why: str

    @property
    def common(self) -> str | None:
        """The storage that holds all disks. None: it depends on the host."""
        names = set(self.disks.values())
        return names.pop() if len(names) == 1 else None

    @property
    def names(self) -> tuple[str, ...]:
        """All storages that were chosen."""
        return tuple(dict.fromkeys((*sorted(set(self.disks.values())), self.images)))


def choose_storages(hosts: Sequence[StarterHost], placing: MachinePlacement) -> ChosenStorages:
    """Storages that all hosts of machines have. `Refused` where there are none."""
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


def _disk(wanted: int, least: int, share: float) -> int:
    return max(min(wanted, int(wanted * share)), least)


def _images(hosts: Sequence[StarterHost]) -> tuple[str, str]:
    common = [rows for rows in _common(hosts) if all("import" in one.content for one in rows)]
    fit = [
        rows
        for rows in common
        if all(one.free is None or one.free >= problems.IMAGE_ROOM * GIB for one in rows)
    ]
    if not fit:
        raise Refused(
            problems.no_import_storage(_names(hosts), _storage_summary(hosts), _switch(hosts))
        )
    best = min(fit, key=lambda rows: (not rows[0].shared, -_least(rows), rows[0].name))
    return best[0].name, _why(best, "it takes content `import`")


def _disks(
    hosts: Sequence[StarterHost], placing: MachinePlacement
) -> tuple[dict[str, str], float, str]:
    """Storages of hosts, how much of the disks they have room for, and why these."""
    common = _best(_common(hosts), hosts, placing)
    if common is not None:
        share, rows = common
        names = {str(host.name): rows[0].name for host in hosts}
        return names, share, _why(rows, "it takes disk images")
    own = [_best(([one] for one in host.storages), [host], placing) for host in hosts]
    best = [one for one in own if one is not None]
    if len(best) < len(hosts):
        need = f"machines need at least {placing.controller.least_disk} GiB each, in a storage for"
        raise Refused(
            problems.no_disk_storage(_names(hosts), _storage_summary(hosts), f"{need} `images`")
        )
    names = {str(host.name): rows[0].name for host, (_, rows) in zip(hosts, best, strict=True)}
    why = "no storage for disk images is on every host, so each has that with most room"
    return names, min(share for share, _ in best), why


def _best(
    choices: Iterable[list[StarterStorage]], hosts: Sequence[StarterHost], placing: MachinePlacement
) -> tuple[float, list[StarterStorage]] | None:
    """The storage that is best for disks, shared ones first. None: none has room."""
    fits = [
        (share, rows)
        for rows in choices
        if all("images" in one.content and one.available for one in rows)
        and (share := _share(hosts, rows, placing)) > 0
    ]
    if not fits:
        return None
    return min(fits, key=lambda one: (not one[1][0].shared, -min(one[0], 1.0), one[1][0].name))


def _share(
    hosts: Sequence[StarterHost], rows: Sequence[StarterStorage], placing: MachinePlacement
) -> float:
    """How much of the disks that are wanted a storage has room for. 0: not for the least."""
    pairs = list(zip(hosts, rows, strict=True))
    if rows[0].shared:
        least = sum(placing.disk_on(host.name) for host in hosts)
        wanted = sum(placing.size_of(one).disk for one in placing.machines)
        return _fill(rows[0].free, wanted, least)
    return min(
        _fill(row.free, _bytes_needed_for_disks(host, placing), placing.disk_on(host.name))
        for host, row in pairs
    )


def _bytes_needed_for_disks(host: StarterHost, placing: MachinePlacement) -> int:
    return sum(placing.size_of(one).disk for one in placing.machines if one.host == host.name)


def _fill(free: int | None, wanted: int, least: int) -> float:
    if free is None:
        return 1.0
    usable = free * _USED / GIB
    return 0.0 if usable < least else usable / wanted


def _common(hosts: Sequence[StarterHost]) -> Iterator[list[StarterStorage]]:
    """Storages that are available on every host, each with its row of every host."""
    for first in hosts[0].storages:
        rows = [one for host in hosts for one in host.storages if one.name == first.name]
        if len(rows) == len(hosts) and all(one.available for one in rows):
            yield rows


def _least(rows: Sequence[StarterStorage]) -> int:
    return min(one.free if one.free is not None else 0 for one in rows)


def _why(rows: Sequence[StarterStorage], what: str) -> str:
    each = "on every host" if len(rows) > 1 else "on the host"
    where = "shared by all hosts" if rows[0].shared else each
    told = [one.free for one in rows if one.free is not None]
    room = f", {min(told) // GIB} GiB free" if told else ""
    if not rows[0].shared and len(rows) > 1 and told:
        room = f", at least {min(told) // GIB} GiB free on each"
    return f"{what}; {rows[0].kind}, {where}{room}"


def _switch(hosts: Sequence[StarterHost]) -> tuple[str, str] | None:
    for rows in _common(hosts):
        if rows[0].kind in _FILES and "import" not in rows[0].content:
            return rows[0].name, ",".join(sorted({*rows[0].content, "import"}))
    return None


def _names(hosts: Sequence[StarterHost]) -> list[str]:
    return [str(host.name) for host in hosts]


def _storage_summary(hosts: Sequence[StarterHost]) -> str:
    told = {one.name: _describe(one) for host in hosts for one in host.storages}
    return "; ".join(told[name] for name in sorted(told)) or "none"


def _describe(one: StarterStorage) -> str:
    content = ", ".join(sorted(one.content)) or "nothing"
    room = "" if one.free is None else f", {one.free // GIB} GiB free"
    state = "" if one.available else ", not available"
    return f"{one.name} ({one.kind}) for {content}{room}{state}"
