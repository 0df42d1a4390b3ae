"""Plans images: downloads missing ones and prunes those that no node uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from stockman.model.names import Datastore, HostName
from stockman.model.record import record
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.images import TALOS_IMAGE, DesiredImage
from stockman.proxmox.guest_values import image_volume
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
    """A storage that needs an image, and the host that downloads it."""

    region: str
    image: DesiredImage
    storage: Datastore
    host: HostName

    @property
    def step(self) -> str:
        return f"images/fetch/{self.region}/{self.host}/{self.storage}/{self.image.name}"


def image_targets(
    observed: ObservedProxmox, desired_guests: Iterable[DesiredGuest]
) -> dict[tuple[str, str, str], ImageTarget]:
    """Return where guests to be created need images, by image, host and storage.

    All hosts of a shared storage have the same target.
    """
    targets: dict[tuple[str, str, str], ImageTarget] = {}
    shared: dict[tuple[str, str], ImageTarget] = {}
    for desired in desired_guests:
        if desired.image is None or desired.image_storage is None:
            continue
        name, storage = desired.image.name, str(desired.image_storage)
        summary = observed.storage(desired.host, storage)
        target = ImageTarget(
            region=observed.name,
            image=desired.image,
            storage=desired.image_storage,
            host=desired.host,
        )
        if summary is not None and summary.shared:
            target = shared.setdefault((name, storage), target)
        targets[name, str(desired.host), storage] = target
    return targets


def plan_image_downloads(
    observed: ObservedProxmox, targets: Iterable[ImageTarget], needs: tuple[str, ...]
) -> Iterator[ProxmoxChange]:
    """Plan the download of missing images."""
    for target in dict.fromkeys(targets):
        if not _is_present(observed, target):
            yield _fetch_change(observed, target, needs)


def _fetch_change(
    observed: ObservedProxmox, target: ImageTarget, needs: tuple[str, ...]
) -> ProxmoxChange:
    region, image = observed.name, target.image
    gates: list[Gate] = [
        HostOnline(cluster=region, host=target.host),
        StorageSpace(cluster=region, host=target.host, storage=target.storage, bytes=_FREE_SPACE),
    ]
    registrations: list[Step] = []
    if image.schematic is not None and image.schematic_text:
        register = Step(
            id=f"images/register/{image.schematic[:16]}",
            action=RegisterSchematic(schematic=image.schematic, text=image.schematic_text),
            stage=Stage.IMAGES,
            reason="the Image Factory only builds images of registered schematics",
        )
        registrations.append(register)
        needs = (*needs, register.id)
    elif image.schematic is not None:
        gates.append(SchematicRegistered(schematic=image.schematic))
    lack = f"{target.storage} does not have it"
    if any(isinstance(fact, Unknown) for fact in _storage_contents(observed, target)):
        lack = f"it is unknown whether {target.storage} has it"
    reason = f"{lack}, and machines are created from it; {_comparison_text(image)}"
    fetch = Step(
        id=target.step,
        action=FetchImage(
            cluster=region,
            host=target.host,
            storage=target.storage,
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
        what=f"image {image.name} in {target.storage}, downloaded by {target.host}",
        why=reason,
        mark=ChangeKind.ADD,
        stage=Stage.IMAGES,
        steps=(*registrations, fetch),
    )


def _comparison_text(image: DesiredImage) -> str:
    if image.checksum:
        return "its content is verified with the configured checksum"
    if image.schematic is None:
        return "without a configured checksum, only its size is verified"
    return "if the factory provides no checksum, only its size is verified"


def _is_present(observed: ObservedProxmox, target: ImageTarget) -> bool:
    volume_id = image_volume(target.storage, target.image.name)
    return any(
        volume.id == volume_id
        for fact in _storage_contents(observed, target)
        if isinstance(fact, Fact)
        for volume in fact.value
    )


def _storage_contents(
    observed: ObservedProxmox, target: ImageTarget
) -> Iterator[Fact[tuple[Volume, ...]] | Unknown]:
    """Return what is known of the content of the storage that needs an image."""
    for key, fact in observed.contents.items():
        host, _, storage = key.partition("/")
        summary = observed.storage(host, storage)
        applies = host == target.host or (summary is not None and summary.shared)
        if storage == target.storage and applies:
            yield fact


def find_unused_images(
    observed: ObservedProxmox, desired_guests: Iterable[DesiredGuest]
) -> Iterator[ProxmoxChange]:
    """Plan the deletion of downloaded Talos images that no configured node uses."""
    used = {guest.image.name for guest in desired_guests if guest.image is not None}
    why = "no node uses this version and schematic"
    for key, volume, name in _list_images(observed):
        if name not in used and TALOS_IMAGE.fullmatch(name) is not None:
            yield _removal_change(observed.name, key, volume, (why, ()))


def plan_image_removals(
    observed: ObservedProxmox, names: Collection[str], needs: tuple[str, ...]
) -> Iterator[ProxmoxChange]:
    """Plan the deletion of images with these names."""
    for key, volume, name in _list_images(observed):
        if name in names:
            why = "the machines that were created from it are deleted"
            yield _removal_change(observed.name, key, volume, (why, needs))


def _list_images(observed: ObservedProxmox) -> Iterator[tuple[str, str, str]]:
    """Return hosts and storages, volumes and names of images."""
    for key, fact in observed.contents.items():
        for volume in fact.value if isinstance(fact, Fact) else ():
            yield key, volume.id, volume.id.partition(":import/")[2]


def _removal_change(
    region: str, key: str, volume: str, purpose: tuple[str, tuple[str, ...]]
) -> ProxmoxChange:
    why, needs = purpose
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
