"""Container images in the store of a machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from stockman.talos.api.transport import GrpcCode
from stockman_lab.core.faults import Effect
from stockman_lab.images.archives import read_archive
from stockman_lab.images.errors import CorruptImage
from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.api.registry import Fields, method, streamed, uploaded
from stockman_lab.talos.pulling import PullFailed, keep, pull
from stockman_lab.talos.state import StoredImage

_MACHINE, _IMAGES = "machine.MachineService", "machine.ImageService"
_SYSTEM, _CRI = 1, 2
_DOWNLOADING, _DOWNLOADED, _EXTRACTING, _EXTRACTED = range(4)


def _namespace(number: int) -> str:
    namespace = {_SYSTEM: "system", _CRI: "k8s.io"}.get(number)
    if namespace is None:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, f"unsupported namespace {number}")
    return namespace


def _images(call: Call, number: int) -> list[StoredImage]:
    return sorted(
        call.machine.state.images.get(_namespace(number), {}).values(), key=lambda one: one.name
    )


def _row(image: StoredImage) -> Fields:
    return {
        "name": image.name,
        "digest": image.digest,
        "size": image.size,
        "created_at": image.created_at,
    }


@streamed(_MACHINE, "ImageList")
async def list_images(call: Call) -> AsyncIterator[Fields]:
    """Images of a namespace."""
    for image in _images(call, call.request.namespace):
        yield _row(image)


@streamed(_IMAGES, "List", since="1.13")
async def list_images_newly(call: Call) -> AsyncIterator[Fields]:
    """Images of a namespace, with their labels."""
    for image in _images(call, call.request.containerd.namespace):
        yield {**_row(image), "labels": {"io.cri-containerd.image": "managed"}}


@method(_MACHINE, "ImagePull")
async def pull_image(call: Call) -> Fields:
    """Fetch an image."""
    await _pulled(call, call.request.reference, call.request.namespace)
    return {}


async def _pulled(call: Call, reference: str, namespace: int) -> StoredImage:
    machine = call.machine
    name = _namespace(namespace)
    fault = machine.step_fault("pull")
    if fault is not None and fault.effect is Effect.HANG:
        while True:
            await call.changed()
    if fault is not None and fault.effect is Effect.FAIL:
        raise Refusal(GrpcCode.UNKNOWN, f"error pulling image: {fault.message}")
    late = fault.seconds if fault is not None else 0.0
    if reference not in machine.state.images.get(name, {}):
        late += machine.seconds("pull")
    await call.sleep(late)
    try:
        found = pull(machine, reference, name)
    except PullFailed as failed:
        await call.sleep(failed.seconds)
        code = GrpcCode.NOT_FOUND if str(failed).endswith("not found") else GrpcCode.UNKNOWN
        raise Refusal(code, f"error pulling image: {failed}") from None
    await call.sleep(found.seconds)
    call.land.changed()
    return found.image


@streamed(_IMAGES, "Pull", since="1.13")
async def pull_newly(call: Call) -> AsyncIterator[Fields]:
    """Fetch an image, and tell how far it got."""
    reference = call.request.image_ref
    image = await _pulled(call, reference, call.request.containerd.namespace)
    layer = image.digest
    for status in (_DOWNLOADING, _DOWNLOADED, _EXTRACTING, _EXTRACTED):
        progress = {"status": status, "offset": image.size, "total": image.size}
        yield {"pull_progress": {"layer_id": layer, "progress": progress}}
    yield {"name": image.name}


@method(_IMAGES, "Remove", since="1.13")
def remove_image(call: Call) -> Fields:
    """Take an image out of the store."""
    image = call.machine.state.images.get(_namespace(call.request.containerd.namespace), {})
    if image.pop(call.request.image_ref, None) is None:
        raise Refusal(GrpcCode.NOT_FOUND, f'image "{call.request.image_ref}": not found')
    keep(call.machine)
    return {}


@uploaded(_IMAGES, "Import", since="1.13")
async def import_image(call: Call, pieces: AsyncIterator[Any]) -> Fields:
    """Take an image out of an archive that is sent; the first message says where it goes."""
    namespace, content = "", bytearray()
    async for piece in pieces:
        if piece.HasField("containerd"):
            namespace = _namespace(piece.containerd.namespace)
        content += piece.image_chunk.bytes
    if not namespace:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, "containerd instance is required")
    try:
        archive = read_archive(bytes(content))
    except CorruptImage as error:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, f"failed to import image: {error}") from None
    facts = archive.facts
    is_installer = facts is not None and facts.more.get("kind") == "installer"
    image = StoredImage(
        name=archive.name,
        digest=archive.digest,
        size=len(content),
        created_at=call.now,
        platform=facts.platform if facts is not None and is_installer else "",
        schematic=facts.schematic if facts is not None else "",
        version=facts.version if facts is not None else "",
    )
    call.machine.state.images.setdefault(namespace, {})[image.name] = image
    keep(call.machine)
    call.land.changed()
    return {"name": image.name}


@method(_IMAGES, "Verify", since="1.13")
def verify_image(call: Call) -> Fields:
    """Whether an image may be used; without rules nothing is verified, and all are let in."""
    reference = call.request.image_ref
    config = call.machine.config
    documents = config.others.get("ImageVerificationConfig", ()) if config is not None else ()
    rules = [one for document in documents for one in _rules(document)]
    for number, rule in enumerate(rules):
        if not fnmatchcase(reference, str(rule.get("image", ""))):
            continue
        if rule.get("deny") is True:
            raise Refusal(
                GrpcCode.PERMISSION_DENIED, f"verification denied by matched rule ({number:04})"
            )
        if rule.get("skip") is True or rule.get("verify") is False:
            return {"message": f"verification skipped by matched rule ({number:04})"}
        raise Refusal(
            GrpcCode.PERMISSION_DENIED,
            f"image verification failed: no signatures found for {reference}",
        )
    return {"message": "no matched rule"}


def _rules(document: Mapping[str, object]) -> list[Mapping[str, object]]:
    rules = document.get("rules")
    return [rule for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []
