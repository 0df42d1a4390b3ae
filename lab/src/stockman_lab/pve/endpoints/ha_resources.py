"""`/cluster/ha/resources`: what is to be kept running."""

from __future__ import annotations

from stockman_lab.pve import ha_manager
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import die, failing
from stockman_lab.pve.ha import placement
from stockman_lab.pve.ha.names import guest_of, require_guest, resource_id, type_of
from stockman_lab.pve.sections import delete_options, digest_of, refuse_changed, texts, typed

_PATH = "/cluster/ha/resources"
_MIGRATED = "invalid parameter 'group': ha groups have been migrated to rules"
_NAMED = ("sid", "type", "digest", "delete", "purge")
_OPTIONS = ("state", "group", "comment", "failback", "max_restart", "max_relocate")


@endpoint("GET", _PATH)
def resources(call: Call) -> object:
    text = call.text("type")
    return [
        _row(call.cluster, section)
        for section in call.cluster.state.ha_resources.values()
        if text in ("", section.type)
    ]


@endpoint("GET", f"{_PATH}/{{sid}}")
def resource(call: Call) -> object:
    return _row(call.cluster, _section(call.cluster, _sid(call)))


@endpoint("POST", _PATH)
def create(call: Call) -> object:
    cluster = call.cluster
    cluster.require_quorum()
    sid = _sid(call)
    if call.text("type", type_of(sid)) != type_of(sid):
        raise die("types does not match")
    _check_group(call)
    require_guest(cluster, sid)
    with failing("create resource failed"):
        if sid in cluster.state.ha_resources:
            raise die(f"resource ID '{sid}' already defined")
        cluster.state.ha_resources[sid] = Section(sid, type_of(sid), texts(call.params, _NAMED))
    _changed(cluster, sid)
    return None


@endpoint("PUT", f"{_PATH}/{{sid}}")
def update(call: Call) -> object:
    cluster, sid = call.cluster, _sid(call)
    _check_group(call)
    with failing("update resources config failed"):
        cluster.require_quorum("domain-ha")
        refuse_changed(digest_of(cluster.state.ha_resources), call.text("digest"))
        section = _section(cluster, sid)
        section.options |= texts(call.params, _NAMED)
        delete_options(section, call.text("delete"), (), _OPTIONS)
    _changed(cluster, sid)
    return None


@endpoint("DELETE", f"{_PATH}/{{sid}}")
def delete(call: Call) -> object:
    cluster, sid = call.cluster, _sid(call)
    if sid not in cluster.state.ha_resources:
        raise die(f"cannot delete service '{sid}', not HA managed!")
    with failing("delete resource failed"):
        cluster.require_quorum("domain-ha")
        del cluster.state.ha_resources[sid]
        if call.flag("purge", default=True):
            forget_in_rules(cluster, sid)
    _changed(cluster, sid)
    return None


@endpoint("POST", f"{_PATH}/{{sid}}/migrate")
def migrate(call: Call) -> object:
    return _moved(call, relocate=False)


@endpoint("POST", f"{_PATH}/{{sid}}/relocate")
def relocate(call: Call) -> object:
    return _moved(call, relocate=True)


def forget_in_rules(cluster: Cluster, sid: str) -> None:
    """Take a resource out of all rules; rules without any go too."""
    for name, rule in list(cluster.state.ha_rules.items()):
        left = [one for one in rule.options["resources"].split(",") if one != sid]
        if left:
            rule.options["resources"] = ",".join(left)
        else:
            del cluster.state.ha_rules[name]


def _sid(call: Call) -> str:
    return resource_id(call.cluster, call.text("sid"))


def _section(cluster: Cluster, sid: str) -> Section:
    ha_resource = cluster.state.ha_resources.get(sid)
    if ha_resource is None:
        raise die(f"no such resource '{sid}'")
    return ha_resource


def _row(cluster: Cluster, section: Section) -> dict[str, object]:
    row = typed(cluster.state.profile, _PATH, section.options)
    group = section.options.get("group", "")
    if not cluster.state.ha_groups:
        row.pop("group", None)
    elif group and group not in cluster.state.ha_groups:
        row["errors"] = {"group": f"group '{group}' does not exist"}
    digest = digest_of(cluster.state.ha_resources)
    return row | {"sid": section.id, "type": section.type, "digest": digest}


def _check_group(call: Call) -> None:
    group, groups = call.text("group"), call.cluster.state.ha_groups
    if not group:
        return
    if call.cluster.is_nine and not groups:
        raise die(_MIGRATED)
    if group not in groups:
        raise die(f"HA group '{group}' does not exist")


def _changed(cluster: Cluster, sid: str) -> None:
    guest = guest_of(cluster, sid)
    if guest is not None:
        guest.changed_at = cluster.now
    cluster.changed()
    ha_manager.wake(cluster)


def _moved(call: Call, *, relocate: bool) -> object:
    cluster, sid, target = call.cluster, _sid(call), call.text("node")
    guest = guest_of(cluster, sid)
    if guest is None or not _is_managed(cluster, sid):
        raise die(f"resource '{sid}' is not HA managed")
    cluster.require_quorum("domain-ha")
    ha_manager.notice(cluster, guest.vmid, target=target, relocate=relocate)
    if not cluster.is_nine:
        return None
    answer: dict[str, object] = {"sid": sid, "requested-node": target}
    along = [one for one in placement.together(cluster, sid) if _is_managed(cluster, one)]
    if along:
        answer["comigrated-resources"] = along
    blocking = [one for one in placement.apart(cluster, sid) if _is_on(cluster, one, target)]
    if blocking:
        answer["blocking-resources"] = [
            {"sid": one, "cause": "resource-affinity"} for one in blocking
        ]
    return answer


def _is_managed(cluster: Cluster, sid: str) -> bool:
    guest = guest_of(cluster, sid)
    return guest is not None and ha_manager.is_managed(cluster, guest)


def _is_on(cluster: Cluster, sid: str, host: str) -> bool:
    guest = guest_of(cluster, sid)
    return guest is not None and guest.node == host and _is_managed(cluster, sid)
