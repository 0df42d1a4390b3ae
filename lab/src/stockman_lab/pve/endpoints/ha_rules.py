"""`/cluster/ha/rules`: which hosts suit resources, and which resources suit each other."""

from __future__ import annotations

from stockman_lab.pve import ha_manager
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError, die, failing
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.ha.feasibility import problems_of, resources_of
from stockman_lab.pve.ha.placement import node_priorities
from stockman_lab.pve.sections import digest_of, refuse_changed, texts, typed

_PATH = "/cluster/ha/rules"
_NAMED = ("rule", "type", "digest", "delete")
_REQUIRED = {
    "node-affinity": ("resources", "nodes"),
    "resource-affinity": ("resources", "affinity"),
}
_OPTIONAL = {
    "node-affinity": ("strict", "disable", "comment"),
    "resource-affinity": ("disable", "comment"),
}


@endpoint("GET", _PATH)
def rules(call: Call) -> object:
    text, sid = call.text("type"), call.text("resource")
    return [
        _row(call.cluster, rule)
        for rule in call.cluster.state.ha_rules.values()
        if text in ("", rule.type) and (not sid or sid in resources_of(rule))
    ]


@endpoint("GET", f"{_PATH}/{{rule}}")
def rule(call: Call) -> object:
    name = call.text("rule")
    ha_rule = call.cluster.state.ha_rules.get(name)
    if ha_rule is None:
        raise die(f"no such ha rule '{name}'")
    return _row(call.cluster, ha_rule)


@endpoint("POST", _PATH)
def create(call: Call) -> object:
    cluster, name, kind = call.cluster, call.text("rule"), call.text("type")
    cluster.require_quorum()
    if cluster.state.ha_groups:
        raise die("cannot create ha rule: ha groups have not been migrated yet")
    options = _options(call, kind)
    for needed in _REQUIRED[kind]:
        if not options.get(needed):
            raise die(f"missing value for required option '{needed}'")
    with failing("create ha rule failed"):
        if name in cluster.state.ha_rules:
            raise die(f"HA rule '{name}' already defined")
        _check_known(call, options)
        section = Section(name, kind, options)
        _require_feasible(cluster, section)
        cluster.state.ha_rules[name] = section
    _changed(cluster)
    return None


@endpoint("PUT", f"{_PATH}/{{rule}}")
def update(call: Call) -> object:
    cluster, name = call.cluster, call.text("rule")
    if cluster.state.ha_groups:
        raise die("cannot update ha rule: ha groups have not been migrated yet")
    with failing("update HA rules failed"):
        cluster.require_quorum("domain-ha")
        refuse_changed(digest_of(cluster.state.ha_rules), call.text("digest"))
        ha_rule = cluster.state.ha_rules.get(name)
        if ha_rule is None:
            raise die(f"HA rule '{name}' does not exist")
        options = _options(call, ha_rule.type)
        _check_known(call, options)
        changed = Section(name, ha_rule.type, dict(ha_rule.options))
        _delete(changed, split_list(call.text("delete")), options)
        changed.options |= options
        _require_feasible(cluster, changed)
        cluster.state.ha_rules[name] = changed
    _changed(cluster)
    return None


@endpoint("DELETE", f"{_PATH}/{{rule}}")
def delete(call: Call) -> object:
    """Also of a rule that is not there: nobody minds."""
    with failing("delete ha rule failed"):
        call.cluster.require_quorum("domain-ha")
        call.cluster.state.ha_rules.pop(call.text("rule"), None)
    _changed(call.cluster)
    return None


def _options(call: Call, kind: str) -> dict[str, str]:
    options = texts(call.params, _NAMED)
    if options.get("disable") == "0":
        del options["disable"]
    for name in sorted(options):
        if name not in (*_REQUIRED[kind], *_OPTIONAL[kind]):
            raise die(f"unexpected property '{name}'")
    if "resources" in options:
        options["resources"] = ",".join(sorted(set(split_list(options["resources"]))))
    if "nodes" in options:
        found = sorted(node_priorities(options["nodes"]).items())
        options["nodes"] = ",".join(f"{host}:{one}" if one else host for host, one in found)
    return options


def _check_known(call: Call, options: dict[str, str]) -> None:
    state = call.cluster.state
    if "resources" in options:
        unknown = [
            resource
            for resource in options["resources"].split(",")
            if resource not in state.ha_resources
        ]
        if unknown:
            raise die(f"cannot use unmanaged resource(s) {', '.join(unknown)}.")
    if "nodes" in options:
        missing = [
            node_priority
            for node_priority in node_priorities(options["nodes"])
            if node_priority not in state.hosts
        ]
        if missing:
            raise die(f"cannot use non-existent node(s) {', '.join(missing)}.")


def _delete(section: Section, names: list[str], given: dict[str, str]) -> None:
    for name in names:
        if name in _REQUIRED[section.type]:
            raise die(f"unable to delete required option '{name}'")
        if name not in _OPTIONAL[section.type]:
            raise die(f"no such option '{name}'")
        if name in given:
            raise die(f"cannot set and delete property '{name}' at the same time!")
        section.options.pop(name, None)


def _require_feasible(cluster: Cluster, made: Section) -> None:
    problems = problems_of(made, cluster.state.ha_rules, len(cluster.state.hosts))
    if problems:
        raise ApiError(400, f"Rule '{made.id}' is invalid.", problems)


def _row(cluster: Cluster, section: Section) -> dict[str, object]:
    rules = cluster.state.ha_rules
    row = typed(cluster.state.profile, _PATH, section.options)
    problems = problems_of(section, rules, len(cluster.state.hosts))
    if problems:
        row["errors"] = {name: [text] for name, text in problems.items()}
    return row | {
        "rule": section.id,
        "type": section.type,
        "digest": digest_of(rules),
        "order": list(rules).index(section.id) + 1,
    }


def _changed(cluster: Cluster) -> None:
    cluster.changed()
    ha_manager.wake(cluster)
