"""Evictions: a pod goes if its disruption budget allows it."""

from __future__ import annotations

from stockman_lab.kube.api.answers import answered
from stockman_lab.kube.api.call import Call, object_key
from stockman_lab.kube.api.decoding import read_body
from stockman_lab.kube.api.deleting import delete_entry
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.failures import About, Cause, Failure, bad_request, internal, not_found
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of, written_time
from stockman_lab.kube.store.entries import Entry

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
