"""Quotas: how much there may be in a namespace; refusals, and how much there is."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.admission.usage import Used, sum_of, usage
from stockman_lab.kube.failures import forbidden
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of
from stockman_lab.kube.schema.quantity import added, amount

Listed = Callable[[str, str], list[Object]]
"""Objects of a kind in a namespace."""
_OF_COMPUTING = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_OTHERS = {"cpu": "requests.cpu", "memory": "requests.memory"}
_HOLDERS = {
    "services.nodeports": "services",
    "services.loadbalancers": "services",
    "requests.storage": "persistentvolumeclaims",
}


def is_simple(quota: Object) -> bool:
    """Whether a quota is about everything; those with scopes are stored, and mean nothing."""
    spec = part_of(quota, "spec")
    return not spec.get("scopes") and not spec.get("scopeSelector")


def used_of(quota: Object, namespace: str, listed: Listed) -> Used:
    """How much there is of what a quota limits."""
    hard = part_of(quota, "spec", "hard")
    kinds = {_kind(name) for name in hard}
    used = sum_of(
        usage(kind, one) for kind in sorted(kinds) for one in listed(kind.split(".")[0], namespace)
    )
    return {name: used.get(name, "0") for name in sorted(hard)}


def _kind(name: str) -> str:
    """The objects that count for something a quota limits."""
    if name.startswith("count/"):
        return name.removeprefix("count/")
    if "storageclass.storage.k8s.io/" in name:
        return "persistentvolumeclaims"
    if name in _HOLDERS:
        return _HOLDERS[name]
    is_of_pods = name.startswith(("requests.", "limits.")) or name in _OTHERS
    return "pods" if is_of_pods or name == "ephemeral-storage" else name


def refuse_beyond_quotas(draft: Draft) -> None:
    """Refuse a new object where there is enough already."""
    quotas = draft.around.listed("resourcequotas", draft.namespace) if draft.namespace else []
    if not quotas:
        return
    wanted = usage(draft.resource.qualified, draft.content)
    for quota in filter(is_simple, quotas):
        name, hard = metadata_of(quota)["name"], part_of(quota, "spec", "hard")
        limited = {one: value for one, value in hard.items() if one in wanted}
        if draft.place == ("", "pods"):
            missing = _unsaid(draft.content, hard)
            if missing:
                raise forbidden(
                    draft.named, draft.name, f"failed quota: {name}: must specify {missing}"
                )
        if not limited:
            continue
        used = used_of(quota, draft.namespace, draft.around.listed)
        over = [
            one
            for one, most in limited.items()
            if amount(added(used[one], wanted[one])) > amount(most)
        ]
        if over:
            parts = (("requested", wanted), ("used", used), ("limited", hard))
            told = ", ".join(f"{word}: {_shown(of, over)}" for word, of in parts)
            raise forbidden(draft.named, draft.name, f"exceeded quota: {name}, {told}")


def _shown(amounts: Object | Used, names: list[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in sorted(names))


def _unsaid(pod: Object, hard: Object) -> str:
    """What containers have to say where a quota counts it."""
    names = {_OTHERS.get(name, name): name for name in hard}
    told = []
    for known in sorted(_OF_COMPUTING):
        if known not in names:
            continue
        part, _, name = known.partition(".")
        silent = [
            str(one.get("name"))
            for one in (
                *entries_of(pod, "spec", "containers"),
                *entries_of(pod, "spec", "initContainers"),
            )
            if name not in part_of(one, "resources", part)
        ]
        if silent:
            told.append(f"{names[known]} for: {','.join(sorted(silent))}")
    return "; ".join(told)
