"""`/cluster/ha/groups`: hosts for resources, until rules took their place."""

from __future__ import annotations

from stockman_lab.pve import ha_manager
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import die, failing
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.sections import delete_options, digest_of, refuse_changed, texts, typed

_PATH = "/cluster/ha/groups"
_NAMED = ("group", "type", "digest", "delete")


@endpoint("GET", _PATH)
def groups(call: Call) -> object:
    _refuse_migrated(call, "index groups")
    return [_row(call, section) for section in call.cluster.state.ha_groups.values()]


@endpoint("GET", f"{_PATH}/{{group}}")
def group(call: Call) -> object:
    _refuse_migrated(call, "read group")
    return _row(call, _section(call))


@endpoint("POST", _PATH)
def create(call: Call) -> object:
    _refuse_migrated(call, "create group")
    call.cluster.require_quorum()
    name, existing = call.text("group"), call.cluster.state.ha_groups
    with failing("create ha group failed"):
        if name in existing:
            raise die(f"ha group ID '{name}' already defined")
        existing[name] = Section(name, "group", _options(call))
    _changed(call)
    return None


@endpoint("PUT", f"{_PATH}/{{group}}")
def update(call: Call) -> object:
    _refuse_migrated(call, "update group")
    with failing("update ha group failed"):
        call.cluster.require_quorum("domain-ha")
        refuse_changed(digest_of(call.cluster.state.ha_groups), call.text("digest"))
        section = _section(call)
        section.options |= _options(call)
        optional = ("comment", "nofailback", "restricted")
        delete_options(section, call.text("delete"), ("nodes",), optional)
    _changed(call)
    return None


@endpoint("DELETE", f"{_PATH}/{{group}}")
def delete(call: Call) -> object:
    _refuse_migrated(call, "delete group")
    name = call.text("group")
    with failing("delete ha group failed"):
        call.cluster.require_quorum("domain-ha")
        for sid, section in call.cluster.state.ha_resources.items():
            if section.options.get("group") == name:
                raise die(f"ha group is used by service '{sid}'")
        call.cluster.state.ha_groups.pop(name, None)
    _changed(call)
    return None


def _refuse_migrated(call: Call, what: str) -> None:
    if call.cluster.is_nine and not call.cluster.state.ha_groups:
        raise die(f"cannot {what}: ha groups have been migrated to rules")


def _section(call: Call) -> Section:
    name = call.text("group")
    ha_group = call.cluster.state.ha_groups.get(name)
    if ha_group is None:
        raise die(f"no such ha group '{name}'")
    return ha_group


def _options(call: Call) -> dict[str, str]:
    options = texts(call.params, _NAMED)
    if "nodes" in options:
        options["nodes"] = ",".join(split_list(options["nodes"]))
    return options


def _row(call: Call, section: Section) -> dict[str, object]:
    row = typed(call.cluster.state.profile, _PATH, section.options)
    digest = digest_of(call.cluster.state.ha_groups)
    return row | {"group": section.id, "type": section.type, "digest": digest}


def _changed(call: Call) -> None:
    call.cluster.changed()
    ha_manager.wake(call.cluster)
