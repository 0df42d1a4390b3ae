"""Limit ranges: what containers get that ask for nothing, and what nobody may exceed."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.admission.usage import claim_storage, pod_total
from stockman_lab.kube.failures import forbidden
from stockman_lab.kube.objects import Object, Tree, entries_of, metadata_of, part_of
from stockman_lab.kube.schema.quantity import amount, canonical

_NOTE = "kubernetes.io/limit-ranger"


def give_limits(draft: Draft) -> None:
    """Fill in what the containers of a new pod do not say."""
    given: list[str] = []
    for item in _items(draft, "Container"):
        wanted = {
            "requests": part_of(item, "defaultRequest"),
            "limits": part_of(item, "default"),
        }
        for kind, container in _containers(draft.content):
            given += _fill(container, wanted, f"{kind} {container.get('name', '')}")
    if given:
        metadata = draft.content["metadata"]
        note = f"LimitRanger plugin set: {'; '.join(given)}"
        metadata["annotations"] = {**(metadata.get("annotations") or {}), _NOTE: note}


def _fill(container: Object, objects: dict[str, Object], called: str) -> Iterator[str]:
    for part, word in (("requests", "request"), ("limits", "limit")):
        resources = container.get("resources") or {}
        known = resources.get(part) or {}
        missing = {name: one for name, one in objects[part].items() if name not in known}
        if missing:
            container["resources"] = {**resources, part: {**known, **missing}}
            yield f"{', '.join(sorted(missing))} {word} for {called}"


def refuse_beyond_limits(draft: Draft) -> None:
    """Refuse a pod or a claim that asks for too little or too much."""
    if draft.place == ("", "pods"):
        beyond = list(_beyond_as_pod(draft))
    elif draft.place == ("", "persistentvolumeclaims"):
        beyond = list(_beyond_as_claim(draft))
    else:
        return
    if beyond:
        why = beyond[0] if len(beyond) == 1 else f"[{', '.join(dict.fromkeys(beyond))}]"
        raise forbidden(draft.named, draft.name, why)


def _beyond_as_pod(draft: Draft) -> Iterator[str]:
    for item in _items(draft, "Container"):
        for _, container in _containers(draft.content):
            asked, most = (part_of(container, "resources", one) for one in ("requests", "limits"))
            yield from _beyond(item, asked, most)
    for item in _items(draft, "Pod"):
        yield from _beyond(
            item, pod_total(draft.content, "requests"), pod_total(draft.content, "limits")
        )


def _beyond_as_claim(draft: Draft) -> Iterator[str]:
    for item in _items(draft, "PersistentVolumeClaim"):
        asked = {"storage": claim_storage(draft.content)}
        yield from _beyond(item, asked, asked, only_asked=True)


def _beyond(
    item: Object, asked: Object, most: Object, *, only_asked: bool = False
) -> Iterator[str]:
    kind = item.get("type", "")
    for name, least in sorted(part_of(item, "min").items()):
        head = f"minimum {name} usage per {kind} is {canonical(least)}"
        if name not in asked:
            yield f"{head}.  No request is specified"
        elif amount(asked[name]) < amount(least):
            yield f"{head}, but request is {canonical(asked[name])}"
        elif _is(most, name) and amount(most[name]) < amount(least):
            yield f"{head}, but limit is {canonical(most[name])}"
    for name, highest in sorted(part_of(item, "max").items()):
        head = f"maximum {name} usage per {kind} is {canonical(highest)}"
        if only_asked:
            if amount(asked[name]) > amount(highest):
                yield f"{head}, but request is {canonical(asked[name])}"
        elif name not in most:
            yield f"{head}.  No limit is specified"
        elif amount(most[name]) > amount(highest):
            yield f"{head}, but limit is {canonical(most[name])}"
        elif _is(asked, name) and amount(asked[name]) > amount(highest):
            yield f"{head}, but request is {canonical(asked[name])}"


def _is(resources: dict[str, Tree], name: str) -> bool:
    return name in resources


def _items(draft: Draft, kind: str) -> list[Object]:
    found = draft.around.listed("limitranges", draft.namespace)
    found.sort(key=lambda one: str(metadata_of(one)["name"]))
    items = (item for one in found for item in entries_of(one, "spec", "limits"))
    return [item for item in items if item.get("type") == kind]


def _containers(pod: Object) -> Iterator[tuple[str, Object]]:
    for entry in entries_of(pod, "spec", "containers"):
        yield "container", entry
    for entry in entries_of(pod, "spec", "initContainers"):
        yield "init container", entry
