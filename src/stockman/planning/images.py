"""Images: fetched where machines are to be made from them, and pruned where none is any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from stockman.model.names import Datastore, HostName
from stockman.model.record import record
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.images import TALOS_IMAGE, DesiredImage
from stockman.proxmox.storages import Volume
from stockman.steps.base import Gate
from stockman.steps.images.fetch import DeleteImage, FetchImage
from stockman.steps.images.schematic import RegisterSchematic, SchematicRegistered
from stockman.steps.step import Stage, Step
from stockman.steps.vm.gates import HostOnline, StorageSpace

_FREE_SPACE = 4 << 30
"""More than any image of Talos."""


@record
class ImageTarget:
    """A storage that is to have an image, and the host that fetches it."""

    region: str
    image: DesiredImage
    storage: Datastore
    host: HostName

    @property
    def step(self) -> str:
        return f"images/fetch/{self.region}/{self.host}/{self.storage}/{self.image.name}"


def image_targets(
    seen: ObservedProxmox, wishes: Iterable[DesiredGuest]
) -> dict[tuple[str, str, str], ImageTarget]:
    """Where images are needed for guests that are to be made, by image, host and storage.

    All hosts of a shared storage have the same place.
    """
    places: dict[tuple[str, str, str], ImageTarget] = {}
    shared: dict[tuple[str, str], ImageTarget] = {}
    for wish in wishes:
        if wish.image is None or wish.image_storage is None:
            continue
        name, storage = wish.image.name, str(wish.image_storage)
        there = seen.storage(wish.host, storage)
        place = ImageTarget(
            region=seen.name, image=wish.image, storage=wish.image_storage, host=wish.host
        )
        if there is not None and there.shared:
            place = shared.setdefault((name, storage), place)
        places[name, str(wish.host), storage] = place
    return places


def plan_image_downloads(
    seen: ObservedProxmox, places: Iterable[ImageTarget], needs: tuple[str, ...]
) -> Iterator[ProxmoxChange]:
    """Images that are not there yet."""
    for place in dict.fromkeys(places):
        if not _is_present(seen, place):
            yield _fetch_change(seen, place, needs)


def _fetch_change(
    seen: ObservedProxmox, place: ImageTarget, needs: tuple[str, ...]
) -> ProxmoxChange:
    region, image = seen.name, place.image
    gates: list[Gate] = [
        HostOnline(cluster=region, host=place.host),
        StorageSpace(cluster=region, host=place.host, storage=place.storage, bytes=_FREE_SPACE),
    ]
    made: list[Step] = []
    if image.schematic is not None and image.schematic_text:
        register = Step(
            id=f"images/register/{image.schematic[:16]}",
            action=RegisterSchematic(schematic=image.schematic, text=image.schematic_text),
            stage=Stage.IMAGES,
            reason="the Image Factory makes images of schematics that it was told",
        )
        made.append(register)
        needs = (*needs, register.id)
    elif image.schematic is not None:
        gates.append(SchematicRegistered(schematic=image.schematic))
    lack = f"{place.storage} does not have it"
    if any(isinstance(one, Unknown) for one in _storage_contents(seen, place)):
        lack = f"nobody could see whether {place.storage} has it"
    reason = f"{lack}, and machines are to be made from it; {_comparison_text(image)}"
    fetch = Step(
        id=place.step,
        action=FetchImage(
            cluster=region,
            host=place.host,
            storage=place.storage,
            name=image.name,
            url=image.url,
            checksum=image.checksum,
            asks_checksum=image.schematic is not None,
        ),
        stage=Stage.IMAGES,
        reason=reason,
        gates=tuple(gates),
        needs=needs,
        deadline=3600.0,
        lanes=(f"image/{region}",),
        seconds=60.0,
    )
    return ProxmoxChange(
        region=region,
        what=f"image {image.name} in {place.storage}, fetched by {place.host}",
        why=reason,
        mark=ChangeKind.ADD,
        stage=Stage.IMAGES,
        steps=(*made, fetch),
    )


def _comparison_text(image: DesiredImage) -> str:
    if image.checksum:
        return "its content is checked by the checksum of the configuration"
    if image.schematic is None:
        return "without a checksum in the configuration its size alone is compared"
    return "where the factory tells no checksum, its size alone is compared"


def _is_present(seen: ObservedProxmox, place: ImageTarget) -> bool:
    wanted = f"{place.storage}:import/{place.image.name}"
    return any(
        one.id == wanted
        for fact in _storage_contents(seen, place)
        if isinstance(fact, Fact)
        for one in fact.value
    )


def _storage_contents(
    seen: ObservedProxmox, place: ImageTarget
) -> Iterator[Fact[tuple[Volume, ...]] | Unknown]:
    """What was seen, or not, of the storage that is to have an image."""
    for key, fact in seen.contents.items():
        host, _, storage = key.partition("/")
        there = seen.storage(host, storage)
        applies = host == place.host or (there is not None and there.shared)
        if storage == place.storage and applies:
            yield fact


def find_unused_images(
    seen: ObservedProxmox, wishes: Iterable[DesiredGuest]
) -> Iterator[ProxmoxChange]:
    """Images of Talos that stockman fetched and that no node of the configuration has."""
    used = {wish.image.name for wish in wishes if wish.image is not None}
    why = "no node of the configuration has this version and schematic"
    for key, volume, name in _list_images(seen):
        if name not in used and TALOS_IMAGE.fullmatch(name) is not None:
            yield _removal_change(seen.name, key, volume, (why, ()))


def plan_image_removals(
    seen: ObservedProxmox, names: Collection[str], needs: tuple[str, ...]
) -> Iterator[ProxmoxChange]:
    """Images of these names."""
    for key, volume, name in _list_images(seen):
        if name in names:
            why = "the machines that were made from it are to go"
            yield _removal_change(seen.name, key, volume, (why, needs))


def _list_images(seen: ObservedProxmox) -> Iterator[tuple[str, str, str]]:
    """Hosts and storages, volumes and names."""
    for key, fact in seen.contents.items():
        for volume in fact.value if isinstance(fact, Fact) else ():
            yield key, volume.id, volume.id.partition(":import/")[2]


def _removal_change(
    region: str, key: str, volume: str, told: tuple[str, tuple[str, ...]]
) -> ProxmoxChange:
    why, needs = told
    host, name = key.partition("/")[0], volume.partition(":import/")[2]
    action = DeleteImage(cluster=region, host=HostName(host), volume=volume)
    step = Step(
        id=f"images/delete/{region}/{key}/{name}",
        action=action,
        stage=Stage.IMAGES,
        reason=why,
        needs=needs,
    )
    return ProxmoxChange(
        region=region,
        what=f"image {volume} on {host}",
        why=why,
        mark=ChangeKind.REMOVE,
        stage=Stage.IMAGES,
        destroys=action.destroys,
        steps=(step,),
    )
