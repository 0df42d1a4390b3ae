"""Controller revisions: templates that stateful and daemon sets had."""

from __future__ import annotations

import json
from dataclasses import dataclass

from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.controller import Retry
from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.controllers.ownership import claimed, controller_reference
from stockman_lab.kube.objects import Object, Tree, copied, metadata_of, part_of

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_PRIME, _BASIS, _MASK = 16_777_619, 2_166_136_261, 0xFFFFFFFF


def content_hash(content: Tree, collisions: int = 0) -> str:
    """The hash of a template; other collisions, another hash."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    if collisions:
        text += str(collisions)
    value = _BASIS
    for byte in text.encode():
        value = (value ^ byte) * _PRIME & _MASK
    return "".join(_LETTERS[ord(item) % len(_LETTERS)] for item in str(value))


@dataclass(frozen=True, slots=True)
class History:
    """Templates of one workload, the newest last, and which of them is wanted."""

    current: Object
    others: list[Object]

    @property
    def code(self) -> str:
        """The name of what is wanted."""
        return str(metadata_of(self.current)["name"])


def kept_history(owner: Object, objects: Objects, client: Client, hash_label: str) -> History:
    """The history of a workload, with its template in it; raises `Refused` or `Retry`."""
    every = sorted(claimed(owner, "controllerrevisions", objects, client), key=_number)
    data = _data(owner)
    same = [content for content in every if content.get("data") == data]
    newest = _number(every[-1]) if every else 0
    if not same:
        return History(_made(owner, data, newest + 1, client, hash_label), every)
    current = same[-1]
    if _number(current) < newest:
        current = client.update({**current, "revision": newest + 1})
    name = metadata_of(current)["name"]
    return History(current, [content for content in every if metadata_of(content)["name"] != name])


def trim_history(history: History, limit: int, used: set[str], client: Client) -> None:
    """Forget the oldest templates that no pod has."""
    unused = [revision for revision in history.others if metadata_of(revision)["name"] not in used]
    for item in unused[: max(len(unused) - limit, 0)]:
        client.delete(item)


def template_of(revision: Object) -> Object:
    """The template that a revision holds."""
    template = copied(part_of(revision, "data", "spec", "template"))
    template.pop("$patch", None)
    return template


def _number(revision: Object) -> int:
    number: int = revision.get("revision", 0)
    return number


def _data(owner: Object) -> Object:
    template = {"$patch": "replace", **part_of(owner, "spec", "template")}
    return {"spec": {"template": _by_name(template)}}


def _by_name(value: Tree) -> Tree:
    if isinstance(value, dict):
        return {name: _by_name(value[name]) for name in sorted(value)}
    return [_by_name(item) for item in value] if isinstance(value, list) else value


def _made(owner: Object, data: Object, number: int, client: Client, hash_label: str) -> Object:
    metadata = metadata_of(owner)
    collisions = part_of(owner, "status").get("collisionCount", 0)
    code = content_hash(data, collisions)
    labels = {**(part_of(owner, "spec", "template", "metadata").get("labels") or {})}
    content: Object = {
        "metadata": {
            "name": f"{metadata['name']}-{code}",
            "namespace": metadata["namespace"],
            "labels": {**labels, hash_label: code},
            "annotations": dict(metadata.get("annotations") or {}),
            "ownerReferences": [controller_reference(owner)],
        },
        "data": data,
        "revision": number,
    }
    try:
        return client.create("apps/v1", "ControllerRevision", content)
    except Refused as why:
        if not why.is_taken:
            raise
        status = {**part_of(owner, "status"), "collisionCount": collisions + 1}
        client.update_status(owner, status)
        raise Retry from None
