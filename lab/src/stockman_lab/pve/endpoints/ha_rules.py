"""`/cluster/ha/rules`, and `groups` before 9: which hosts and other resources suit resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman_lab.pve import ha_manager
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError, die, failing
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.ha.placement import node_priorities
from stockman_lab.pve.sections import delete_options, digest_of, in_kinds, refuse_changed, texts

_GROUPS = "/cluster/ha/groups"
_GROUP_NAMED = ("group", "type", "digest", "delete")


@endpoint("GET", _GROUPS)
def list_groups(call: Call) -> object:
    _refuse_migrated(call, "index groups")
    return [_group_row(call, section) for section in call.cluster.state.ha_groups.values()]


@endpoint("GET", f"{_GROUPS}/{{group}}")
def get_group(call: Call) -> object:
    _refuse_migrated(call, "read group")
    return _group_row(call, _group(call))


@endpoint("POST", _GROUPS)
def create_group(call: Call) -> object:
    _refuse_migrated(call, "create group")
    call.cluster.require_quorum()
    name, existing = call.text("group"), call.cluster.state.ha_groups
    with failing("create ha group failed"):
        if name in existing:
            raise die(f"ha group ID '{name}' already defined")
        existing[name] = Section(name, "group", _group_options(call))
    _notify_group_change(call)
    return None


@endpoint("PUT", f"{_GROUPS}/{{group}}")
def update_group(call: Call) -> object:
    _refuse_migrated(call, "update group")
    with failing("update ha group failed"):
        call.cluster.require_quorum("domain-ha")
        refuse_changed(digest_of(call.cluster.state.ha_groups), call.text("digest"))
        section = _group(call)
        section.options |= _group_options(call)
        optional = ("comment", "nofailback", "restricted")
        delete_options(section, call.text("delete"), ("nodes",), optional)
    _notify_group_change(call)
    return None


@endpoint("DELETE", f"{_GROUPS}/{{group}}")
def delete_group(call: Call) -> object:
    _refuse_migrated(call, "delete group")
    name = call.text("group")
    with failing("delete ha group failed"):
        call.cluster.require_quorum("domain-ha")
        for sid, section in call.cluster.state.ha_resources.items():
            if section.options.get("group") == name:
                raise die(f"ha group is used by service '{sid}'")
        call.cluster.state.ha_groups.pop(name, None)
    _notify_group_change(call)
    return None


def _refuse_migrated(call: Call, what: str) -> None:
    if call.cluster.is_nine and not call.cluster.state.ha_groups:
        raise die(f"cannot {what}: ha groups have been migrated to rules")


def _group(call: Call) -> Section:
    name = call.text("group")
    ha_group = call.cluster.state.ha_groups.get(name)
    if ha_group is None:
        raise die(f"no such ha group '{name}'")
    return ha_group


def _group_options(call: Call) -> dict[str, str]:
    options = texts(call.params, _GROUP_NAMED)
    if "nodes" in options:
        options["nodes"] = ",".join(split_list(options["nodes"]))
    return options


def _group_row(call: Call, section: Section) -> dict[str, object]:
    row = in_kinds(call.cluster.state.profile, _GROUPS, section.options)
    digest = digest_of(call.cluster.state.ha_groups)
    return row | {"group": section.id, "type": section.type, "digest": digest}


def _notify_group_change(call: Call) -> None:
    call.cluster.changed()
    ha_manager.wake(call.cluster)


def problems_of(rule: Section, rules: Mapping[str, Section], hosts: int) -> dict[str, str]:
    """What is wrong with one rule among others, by its option."""
    if rule.options.get("disable", "0") == "1":
        return {}
    others = [
        one
        for one in rules.values()
        if one.id != rule.id and one.options.get("disable", "0") != "1"
    ]
    nodes = list(
        _of_nodes(rule, others) if rule.type == "node-affinity" else _of_resources(rule, others)
    )
    if _is(rule, "negative") and len(resources_of(rule)) > hosts:
        nodes.append("rule defines more resources than available nodes")
    return {"resources": ", ".join(nodes)} if nodes else {}


def resources_of(rule: Section) -> list[str]:
    """The resources of a rule, sorted."""
    return rule.options["resources"].split(",")


def _of_nodes(rule: Section, others: list[Section]) -> Iterator[str]:
    mine = set(resources_of(rule))
    for other in others:
        if other.type == "node-affinity":
            for sid in sorted(mine & set(resources_of(other))):
                yield f"resource '{sid}' is already used in another node affinity rule"
    affine = (one for one in others if one.type == "resource-affinity")
    if _has_several_priorities(rule) and any(mine & set(resources_of(one)) for one in affine):
        yield (
            "resources are in a resource affinity rule and cannot be in a node affinity rule"
            " with multiple priorities"
        )


def _of_resources(rule: Section, others: list[Section]) -> Iterator[str]:
    mine = set(resources_of(rule))
    if len(mine) < 2:  # a pair
        yield "rule is ineffective as there are less than two resources"
    opposite = "positive" if _is(rule, "negative") else "negative"
    for other in others:
        shared = mine & set(resources_of(other))
        if _is(other, opposite) and len(shared) > 1:
            yield f"rule shares two or more resources with a {opposite} resource affinity rule"
        if other.type == "node-affinity" and shared and _has_several_priorities(other):
            yield "resources are in node affinity rules with multiple priorities"


def _is(rule: Section, affinity: str) -> bool:
    return rule.type == "resource-affinity" and rule.options.get("affinity") == affinity


def _has_several_priorities(rule: Section) -> bool:
    return len(set(node_priorities(rule.options["nodes"]).values())) > 1


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
def list_rules(call: Call) -> object:
    text, sid = call.text("type"), call.text("resource")
    return [
        _row(call.cluster, get_rule)
        for get_rule in call.cluster.state.ha_rules.values()
        if text in ("", get_rule.type) and (not sid or sid in resources_of(get_rule))
    ]


@endpoint("GET", f"{_PATH}/{{rule}}")
def get_rule(call: Call) -> object:
    name = call.text("rule")
    ha_rule = call.cluster.state.ha_rules.get(name)
    if ha_rule is None:
        raise die(f"no such ha rule '{name}'")
    return _row(call.cluster, ha_rule)


@endpoint("POST", _PATH)
def create_rule(call: Call) -> object:
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
    _notify_change(cluster)
    return None


@endpoint("PUT", f"{_PATH}/{{rule}}")
def update_rule(call: Call) -> object:
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
    _notify_change(cluster)
    return None


@endpoint("DELETE", f"{_PATH}/{{rule}}")
def delete_rule(call: Call) -> object:
    """Also of a rule that is not there: nobody minds."""
    with failing("delete ha rule failed"):
        call.cluster.require_quorum("domain-ha")
        call.cluster.state.ha_rules.pop(call.text("rule"), None)
    _notify_change(call.cluster)
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
    list_rules = cluster.state.ha_rules
    row = in_kinds(cluster.state.profile, _PATH, section.options)
    problems = problems_of(section, list_rules, len(cluster.state.hosts))
    if problems:
        row["errors"] = {name: [text] for name, text in problems.items()}
    return row | {
        "rule": section.id,
        "type": section.type,
        "digest": digest_of(list_rules),
        "order": list(list_rules).index(section.id) + 1,
    }


def _notify_change(cluster: Cluster) -> None:
    cluster.changed()
    ha_manager.wake(cluster)
