"""`/cluster/ha/status`: what is kept running, by whom, and how that goes."""

from __future__ import annotations

from stockman_lab.pve import ha_manager
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.ha import overview
from stockman_lab.pve.ha.names import guest_of, wanted_state
from stockman_lab.pve.sections import typed

_PATH = "/cluster/ha/status"
_SHOWN = ("group", "max_restart", "max_relocate", "failback", "comment")


@endpoint("GET", f"{_PATH}/current")
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
    master = overview.master_of(cluster)
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


@endpoint("GET", f"{_PATH}/manager_status")
def manager_status(call: Call) -> object:
    cluster = call.cluster
    hosts = cluster.state.hosts.values()
    status: dict[str, object] = {}
    master = overview.master_of(cluster)
    if master:
        status = {
            "master_node": master,
            "node_status": {host.name: "online" if host.has_power else "unknown" for host in hosts},
            "service_status": {
                sid: _service(call, section)
                for sid, section in sorted(cluster.state.ha_resources.items())
            },
            "timestamp": int(call.now),
        }
        if cluster.state.ha_disarmed:
            status["disarm"] = {"mode": cluster.state.ha_disarmed, "state": "disarmed"}
    answer: dict[str, object] = {
        "manager_status": status,
        "quorum": {"node": call.host.name, "quorate": int(cluster.is_quorate)},
    }
    if master:
        answer["lrm_status"] = {
            host.name: {
                "mode": "active",
                "state": "active" if overview.is_busy(cluster, host) else "wait_for_agent_lock",
                "results": {},
                "timestamp": int(call.now),
            }
            for host in hosts
            if host.has_power
        }
    return answer


@endpoint("POST", f"{_PATH}/disarm-ha")
def disarm(call: Call) -> object:
    call.cluster.require_quorum("domain-ha")
    call.cluster.state.ha_disarmed = call.text("resource-mode")
    call.cluster.changed()
    return None


@endpoint("POST", f"{_PATH}/arm-ha")
def arm(call: Call) -> object:
    call.cluster.require_quorum("domain-ha")
    call.cluster.state.ha_disarmed = ""
    call.cluster.changed()
    ha_manager.wake(call.cluster)
    return None


def _master_row(call: Call, master: str) -> dict[str, object]:
    text = f"{master} (active, {overview.local_time(call.now)})"
    mode = call.cluster.state.ha_disarmed
    if mode:
        text += f" - disarmed, resource mode: {mode}"
    return {
        "id": "master",
        "type": "master",
        "node": master,
        "status": text,
        "timestamp": int(call.now),
    }


def _fencing_row(call: Call, master: str) -> dict[str, object]:
    mode = call.cluster.state.ha_disarmed
    row: dict[str, object] = {"id": "fencing", "type": "fencing", "node": master or call.host.name}
    if mode:
        text = f"disarmed, resource mode: {mode} (CRM watchdog released)"
        return row | {"status": text, "armed-state": "disarmed", "resource_mode": mode}
    state, watchdog = ("armed", "active") if master else ("standby", "standby")
    return row | {"status": f"{state} (CRM watchdog {watchdog})", "armed-state": state}


def _watcher_row(call: Call, name: str) -> dict[str, object]:
    host = call.cluster.state.hosts[name]
    return {
        "id": f"lrm:{name}",
        "type": "lrm",
        "node": name,
        "status": overview.watcher_text(call.cluster, host),
        "timestamp": int(call.now),
    }


def _resource_row(call: Call, section: Section) -> dict[str, object]:
    guest = guest_of(call.cluster, section.id)
    state = overview.shown_state(call.cluster, section)
    node = guest.node if guest is not None else ""
    row: dict[str, object] = {
        "id": f"service:{section.id}",
        "type": "service",
        "sid": section.id,
        "state": state,
        "crm_state": overview.crm_state(call.cluster, section),
        "status": f"{section.id} ({node or '---'}, {state})",
        "request_state": wanted_state(section),
        "max_restart": 1,
        "max_relocate": 1,
    }
    if call.cluster.is_nine:
        row["failback"] = 1
    if node:
        row["node"] = node
    given = typed(call.cluster.state.profile, "/cluster/ha/resources", section.options)
    return row | {name: given[name] for name in _SHOWN if name in given}


def _service(call: Call, section: Section) -> dict[str, object]:
    guest = guest_of(call.cluster, section.id)
    row: dict[str, object] = {
        "node": guest.node if guest is not None else "",
        "state": overview.crm_state(call.cluster, section),
        "uid": section.id,
    }
    if guest is not None and guest.is_running:
        row["running"] = 1
    return row
