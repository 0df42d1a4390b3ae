"""What machines of a role have in common, said once as a class."""

from __future__ import annotations

from stockman.app.adopting.hardware import Keys

_OWN = ("vmid", "host", "uuid", "nics", "data_disks", "description")
_SEVERAL = 2


def with_classes(nodes: list[Keys]) -> Keys:
    """`nodes` and, where several machines of a role are alike, `classes`."""
    classes: Keys = {}
    left = nodes
    for name, is_controller in (("controller", True), ("worker", False)):
        members = [one for one in left if one["controller"] is is_controller]
        common = _common([_vm(one) for one in members]) if len(members) >= _SEVERAL else {}
        if common:
            classes[name] = {"vm": common}
            left = [_without(one, common) if one in members else one for one in left]
    return {"classes": classes, "nodes": left} if classes else {"nodes": left}


def _vm(node: Keys) -> Keys:
    vm = node.get("vm")
    return vm if isinstance(vm, dict) else {}


def _common(vms: list[Keys]) -> Keys:
    first, *rest = vms
    return {
        key: value
        for key, value in first.items()
        if key not in _OWN and all(key in one and one[key] == value for one in rest)
    }


def _without(node: Keys, common: Keys) -> Keys:
    vm = {key: value for key, value in _vm(node).items() if key not in common}
    return {**node, "vm": vm}
