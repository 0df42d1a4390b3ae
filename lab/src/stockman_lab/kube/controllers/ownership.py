"""Who controls whom: references to owners, adoption and release."""

from __future__ import annotations

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.objects import Objects, controller_of
from stockman_lab.kube.objects import Object, metadata_of, part_of


def controller_reference(owner: Object) -> Object:
    """A reference to somebody who controls an object."""
    metadata = metadata_of(owner)
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_controlled_by(content: Object, owner: Object) -> bool:
    """Whether somebody controls an object."""
    result = controller_of(content)
    return result is not None and result["uid"] == metadata_of(owner)["uid"]


def claimed(owner: Object, plural: str, objects: Objects, client: Client) -> list[Object]:
    """What a workload controls; it adopts what its selector means, and releases other things."""
    selector = part_of(owner, "spec", "selector")
    metadata = metadata_of(owner)
    result = []
    for item in objects.claimable(plural, metadata["namespace"], metadata["uid"]):
        about = metadata_of(item)
        controller = controller_of(item)
        fits = selects(selector, about.get("labels"))
        if controller is not None and controller["uid"] == metadata["uid"]:
            if fits:
                result.append(item)
            elif not metadata.get("deletionTimestamp"):
                _release(item, metadata["uid"], client)
        elif controller is None and fits and not _is_going(about) and not _is_going(metadata):
            adopted = _adopt(item, owner, client)
            result += [adopted] if adopted else []
    return result


def _is_going(metadata: Object) -> bool:
    return bool(metadata.get("deletionTimestamp"))


def _adopt(content: Object, owner: Object, client: Client) -> Object | None:
    change: Object = {
        "metadata": {
            "ownerReferences": [controller_reference(owner)],
            "uid": metadata_of(content)["uid"],
        }
    }
    try:
        return client.patch_by_keys(content, change)
    except Refused as why:
        if why.is_absent:
            return None
        raise


def _release(content: Object, uid: str, client: Client) -> None:
    gone = [{"$patch": "delete", "uid": uid}]
    change: Object = {
        "metadata": {"ownerReferences": gone, "uid": metadata_of(content)["uid"]},
    }
    try:
        client.patch_by_keys(content, change)
    except Refused as why:
        if not why.is_absent:
            raise
