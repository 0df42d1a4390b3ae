"""What is asked for below an object, beside its status."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.admission.draft import wrong
from stockman_lab.kube.api.answers import answered, of_entry
from stockman_lab.kube.api.binding import bind
from stockman_lab.kube.api.call import Call, object_key
from stockman_lab.kube.api.creating import writing
from stockman_lab.kube.api.decoding import read_body
from stockman_lab.kube.api.deleting import delete_entry
from stockman_lab.kube.api.listing import get
from stockman_lab.kube.api.logs import pod_log
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.api.patches import patch, patched
from stockman_lab.kube.api.updating import update, write
from stockman_lab.kube.failures import (
    About,
    Cause,
    Failure,
    Named,
    bad_request,
    conflict,
    internal,
    invalid,
    not_found,
)
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of, written_time
from stockman_lab.kube.patching.apply import track_update
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.tables.printing import requirements

_UNCOUNTED = frozenset({"Succeeded", "Failed", "Pending"})
_CANNOT = "Cannot evict pod as it would violate the pod's disruption budget."


def evict(call: Call) -> Response:
    """Evict a pod; raises `Failure`."""
    request = call.request
    tree = read_body(request.body, request.headers.get("content-type", ""), "Eviction")
    name = metadata_of(tree).get("name")
    if name and name != call.name:
        raise bad_request("name in URL does not match name in Eviction object")
    options = part_of(tree, "deleteOptions")
    if request.query.get("dryRun"):
        options = {**options, "dryRun": request.query["dryRun"]}
    entry = call.store.get(call.key())
    if entry is None:
        raise not_found(call.named, call.name)
    if not _goes_anyway(entry.content):
        _account(call, entry, is_dry=options.get("dryRun") == ["All"])
        entry = call.store.get(call.key()) or entry
    if options.get("dryRun") != ["All"]:
        entry = call.store.update(entry, _with_disruption_target(call, entry))
    delete_entry(call, entry, options)
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return answered({**status, "code": 201}, 201)


def _with_disruption_target(call: Call, entry: Entry) -> Object:
    """A pod with the reason why it goes."""
    pod = copied(entry.content)
    status = pod.setdefault("status", {})
    conditions = [
        condition
        for condition in status.get("conditions") or []
        if condition["type"] != "DisruptionTarget"
    ]
    target = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": written_time(call.context.now),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    status["conditions"] = [*conditions, target]
    return pod


def _goes_anyway(pod: Object) -> bool:
    gone = metadata_of(pod).get("deletionTimestamp")
    return bool(gone) or part_of(pod, "status").get("phase", "Pending") in _UNCOUNTED


def _account(call: Call, pod: Entry, *, is_dry: bool) -> None:
    budgets = [
        one
        for one in call.context.listed("poddisruptionbudgets", call.namespace)
        if selects(part_of(one, "spec").get("selector"), metadata_of(pod.content).get("labels"))
    ]
    if not budgets:
        return
    if len(budgets) > 1:
        text = (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does"
            " not support."
        )
        raise internal(text)
    budget = budgets[0]
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in part_of(pod.content, "status").get("conditions") or []
    )
    status, name = part_of(budget, "status"), metadata_of(budget)["name"]
    if not ready:
        always = part_of(budget, "spec").get("unhealthyPodEvictionPolicy") == "AlwaysAllow"
        healthy = status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0
        if always or healthy:
            return
    _decide(budget, status, name)
    if is_dry:
        return
    resource = call.types.resource("policy", "v1", "poddisruptionbudgets")
    kept = None if resource is None else call.store.get(object_key(resource, call.namespace, name))
    if kept is not None:
        content = copied(kept.content)
        told = content["status"]
        told["disruptionsAllowed"] = told.get("disruptionsAllowed", 0) - 1
        told.setdefault("disruptedPods", {})[call.name] = written_time(call.context.now)
        call.store.update(kept, content)


def _decide(budget: Object, status: Object, name: str) -> None:
    generation = metadata_of(budget).get("generation", 0)
    if status.get("observedGeneration", 0) < generation:
        text = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(text)
    if status.get("disruptionsAllowed", 0) <= 0:
        text = (
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods"
            f" and has {status.get('currentHealthy', 0)} currently"
        )
        raise _too_many(text)


def _too_many(text: str) -> Failure:
    is_processed = text.endswith("server.")
    cause = Cause("DisruptionBudget", text)
    about = About(causes=[cause], retry_after=10 if is_processed else 0)
    return Failure(429, "TooManyRequests", _CANNOT, about)


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


Handler = Callable[[Call], Response]


def answer_subresource(call: Call, more: dict[tuple[str, str], Handler]) -> Response:
    """The answer to a request for a subresource."""
    name = call.route.subresource
    special = more.get((call.resource.plural, name)) or _HANDLERS.get(name)
    if special is not None:
        return special(call)
    if name in _WRITTEN_AS_OBJECT:
        return _as_object(call)
    text = f"the lab does not serve {call.resource.plural}/{name}"
    raise Failure(501, "NotImplemented", text)


_WRITTEN_AS_OBJECT = frozenset({"status", "finalize"})


def _as_object(call: Call) -> Response:
    match call.route.verb:
        case "get":
            return of_entry(get(call))
        case "update":
            entry = update(call)
        case _:
            entry, _ = patch(call)
    return of_entry(entry)


def _refuse(call: Call) -> Response:
    get(call)
    text = f"{call.route.subresource} is not simulated: containers of the lab are not really there"
    raise bad_request(text)


_HANDLERS: dict[str, Handler] = {
    "scale": scale,
    "eviction": evict,
    "binding": bind,
    "log": pod_log,
    "exec": _refuse,
    "attach": _refuse,
    "portforward": _refuse,
    "proxy": _refuse,
}
