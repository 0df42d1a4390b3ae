"""Container images in the store of a machine."""

from __future__ import annotations

from collections.abc import AsyncIterator

from stockman.talos.api.transport import GrpcCode
from stockman_lab.core.faults import Effect
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, method, streamed
from stockman_lab.talos.pulling import PullFailed, pull
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
    await _pull_image(call, call.request.reference, call.request.namespace)
    return {}


async def _pull_image(call: Call, reference: str, namespace: int) -> StoredImage:
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
    image = await _pull_image(call, reference, call.request.containerd.namespace)
    layer = image.digest
    for status in (_DOWNLOADING, _DOWNLOADED, _EXTRACTING, _EXTRACTED):
        progress = {"status": status, "offset": image.size, "total": image.size}
        yield {"pull_progress": {"layer_id": layer, "progress": progress}}
    yield {"name": image.name}
