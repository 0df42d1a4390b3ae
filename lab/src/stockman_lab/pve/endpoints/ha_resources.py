"""`/cluster/ha/resources` and `status`: what is to be kept running, by whom, and how that goes."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman_lab.pve import ha_manager
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import die, failing
from stockman_lab.pve.ha import placement
from stockman_lab.pve.ha.placement import (
    desired_state,
    guest_of,
    require_guest,
    resource_id,
    type_of,
)
from stockman_lab.pve.host import Host
from stockman_lab.pve.sections import delete_options, digest_of, in_kinds, refuse_changed, texts

_DEAD = "old timestamp - dead?"


def master_of(cluster: Cluster) -> str:
    """The host whose manager leads. Empty: nobody has anything to manage."""
    if not cluster.state.ha_resources:
        return ""
    return min((host.name for host in cluster.hosts_with_power()), default="")


def local_time(seconds: float) -> str:
    """A moment as the C library prints it."""
    moment = datetime.fromtimestamp(int(seconds), tz=UTC)
    return f"{moment:%a %b} {moment.day:2} {moment:%H:%M:%S %Y}"


def crm_state(cluster: Cluster, section: Section) -> str:
    """What the manager does with a resource."""
    guest = guest_of(cluster, section.id)
    if guest is None:
        return "stopped"
    if not cluster.state.hosts[guest.node].has_power:
        return "fence"
    return "started" if desired_state(section) == "started" else "stopped"


def shown_state(cluster: Cluster, section: Section) -> str:
    """The state of a resource, as people read it."""
    wanted, guest = desired_state(section), guest_of(cluster, section.id)
    if wanted == "ignored":
        return "ignored"
    if guest is None:
        return "not found"
    current = crm_state(cluster, section)
    if current == "started" and not guest.is_running:
        return "starting"
    if current == "stopped" and guest.is_running:
        return "stopping"
    return "disabled" if current == "stopped" and wanted == "disabled" else current


def is_busy(cluster: Cluster, host: Host) -> bool:
    """Whether a host has resources to look after."""
    return any(
        guest.node == host.name and desired_state(section) not in ("stopped", "disabled", "ignored")
        for sid, section in cluster.state.ha_resources.items()
        if (guest := guest_of(cluster, sid)) is not None
    )


def watcher_text(cluster: Cluster, host: Host) -> str:
    """What is said of the local manager of a host."""
    when = local_time(cluster.now if host.has_power else cluster.now - 60)
    mode, watchdog = _watcher(cluster, host)
    inner = f"{mode}, {watchdog}" if cluster.is_nine else mode
    return f"{host.name} ({inner}, {when})"


def _watcher(cluster: Cluster, host: Host) -> tuple[str, str]:
    if not host.has_power:
        return _DEAD, "watchdog standby"
    return ("active", "watchdog active") if is_busy(cluster, host) else ("idle", "watchdog standby")


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
    _notify_change(cluster, sid)
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
    _notify_change(cluster, sid)
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
    _notify_change(cluster, sid)
    return None


@endpoint("POST", f"{_PATH}/{{sid}}/migrate")
def migrate(call: Call) -> object:
    return _move(call, relocate=False)


@endpoint("POST", f"{_PATH}/{{sid}}/relocate")
def relocate(call: Call) -> object:
    return _move(call, relocate=True)


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
    row = in_kinds(cluster.state.profile, _PATH, section.options)
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


def _notify_change(cluster: Cluster, sid: str) -> None:
    guest = guest_of(cluster, sid)
    if guest is not None:
        guest.changed_at = cluster.now
    cluster.changed()
    ha_manager.wake(cluster)


def _move(call: Call, *, relocate: bool) -> object:
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


_STATUS = "/cluster/ha/status"
_SHOWN = ("group", "max_restart", "max_relocate", "failback", "comment")


@endpoint("GET", f"{_STATUS}/current")
def current(call: Call) -> object:
    cluster, here = call.cluster, call.host.name
    quorate = cluster.is_quorate
    rows: list[dict[str, object]] = [
        {
            "id": "quorum",
            "type": "quorum",
            "node": here,
            "status": "OK" if quorate else f"No quorum on node '{here}'!",
            "quorate": int(quorate),
        }
    ]
    master = master_of(cluster)
    if master:
        rows.append(_master_row(call, master))
    if cluster.is_nine:
        rows.append(_fencing_row(call, master))
    if master:
        rows += (_watcher_row(call, name) for name in sorted(cluster.state.hosts))
    rows += (
        _resource_row(call, section) for _, section in sorted(cluster.state.ha_resources.items())
    )
    return rows


def _master_row(call: Call, master: str) -> dict[str, object]:
    return {
        "id": "master",
        "type": "master",
        "node": master,
        "status": f"{master} (active, {local_time(call.now)})",
        "timestamp": int(call.now),
    }


def _fencing_row(call: Call, master: str) -> dict[str, object]:
    row: dict[str, object] = {"id": "fencing", "type": "fencing", "node": master or call.host.name}
    state, watchdog = ("armed", "active") if master else ("standby", "standby")
    return row | {"status": f"{state} (CRM watchdog {watchdog})", "armed-state": state}


def _watcher_row(call: Call, name: str) -> dict[str, object]:
    host = call.cluster.state.hosts[name]
    return {
        "id": f"lrm:{name}",
        "type": "lrm",
        "node": name,
        "status": watcher_text(call.cluster, host),
        "timestamp": int(call.now),
    }


def _resource_row(call: Call, section: Section) -> dict[str, object]:
    guest = guest_of(call.cluster, section.id)
    state = shown_state(call.cluster, section)
    node = guest.node if guest is not None else ""
    row: dict[str, object] = {
        "id": f"service:{section.id}",
        "type": "service",
        "sid": section.id,
        "state": state,
        "crm_state": crm_state(call.cluster, section),
        "status": f"{section.id} ({node or '---'}, {state})",
        "request_state": desired_state(section),
        "max_restart": 1,
        "max_relocate": 1,
    }
    if call.cluster.is_nine:
        row["failback"] = 1
    if node:
        row["node"] = node
    given = in_kinds(call.cluster.state.profile, "/cluster/ha/resources", section.options)
    return row | {name: given[name] for name in _SHOWN if name in given}


def _service(call: Call, section: Section) -> dict[str, object]:
    guest = guest_of(call.cluster, section.id)
    row: dict[str, object] = {
        "node": guest.node if guest is not None else "",
        "state": crm_state(call.cluster, section),
        "uid": section.id,
    }
    if guest is not None and guest.is_running:
        row["running"] = 1
    return row
