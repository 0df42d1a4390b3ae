"""The scale of workloads: how many there shall be, and how many there are."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import wrong
from stockman_lab.kube.api.answers import answered
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.creating import writing
from stockman_lab.kube.api.decoding import read_body
from stockman_lab.kube.api.listing import get
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.api.patches import patched
from stockman_lab.kube.api.updating import write
from stockman_lab.kube.failures import Named, conflict, invalid, not_found
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of
from stockman_lab.kube.patching.apply import track_update
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.tables.printing import requirements

_KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale(call: Call) -> Response:
    """Tell or change the scale of a workload; raises `Failure`."""
    if call.route.verb == "get":
        return answered(_scale_of(get(call)))
    entry = call.store.get(call.key())
    if entry is None:
        raise not_found(call.named, call.name)
    desired = _read_scale(call, _scale_of(entry))
    replicas = part_of(desired, "spec").get("replicas", 0)
    if not isinstance(replicas, int) or replicas < 0:
        cause = wrong("spec.replicas", replicas, "must be greater than or equal to 0")
        raise invalid(Named("", "autoscaling", "Scale"), call.name, [cause])
    version = metadata_of(desired).get("resourceVersion")
    if version and version != str(entry.revision):
        raise conflict(call.named, call.name)
    content = copied(entry.content)
    content["spec"]["replicas"] = replicas
    content = track_update(entry.content, content, writing(call, content))
    return answered(_scale_of(write(call, entry, content, tracked=True, version_checked=False)))


def _read_scale(call: Call, scale: Object) -> Object:
    request = call.request
    media = request.headers.get("content-type", "")
    if call.route.verb == "update":
        content: Object = read_body(request.body, media, "Scale")
        return content
    shape = call.types.type_of("autoscaling", "v1", "Scale")
    return patched(request.body, media.partition(";")[0].strip(), scale, shape)


def _scale_of(entry: Entry) -> Object:
    metadata, spec = metadata_of(entry.content), part_of(entry.content, "spec")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _KEPT if name in metadata},
        "spec": {"replicas": spec.get("replicas", 0)},
        "status": {
            "replicas": part_of(entry.content, "status").get("replicas", 0),
            "selector": requirements(spec.get("selector")),
        },
    }
