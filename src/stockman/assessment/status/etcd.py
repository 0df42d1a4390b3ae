"""Status of etcd: members, quorum, alarms, size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.assessment.status import problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    part_off,
    unknown_finding,
    worst_health,
)
from stockman.assessment.status.observed import StatusInput
from stockman.steps.etcd.view import EtcdReport, ObservedEtcd, reports_by_node
from stockman.steps.talos.problems import split_etcd

QUOTA = 2 << 30
"""Default size limit of the database in bytes."""
_LARGE = 0.8
_MIB = 1 << 20

LEADER, VOTER, LEARNER = "leader", "voter", "learner"
MISSING, UNHEALTHY, NOT_KNOWN = "missing", "unhealthy", "unknown"
_HEALTH = {LEADER: Health.OK, VOTER: Health.OK, LEARNER: Health.WARNING, NOT_KNOWN: Health.UNKNOWN}


def members(state: StatusInput) -> Mapping[str, str]:
    """Return the role of each controller in etcd, by name."""
    controllers = [str(node.name) for node in state.desired.nodes if node.is_controller]
    if state.talos is None:
        return dict.fromkeys(controllers, NOT_KNOWN)
    view = state.talos.etcd
    answers = reports_by_node(view)
    return {name: _role(view, answers.get(name), name) for name in controllers}


def _role(view: ObservedEtcd, answer: EtcdReport | None, name: str) -> str:
    member = view.member_of(name)
    if not view.members:
        return NOT_KNOWN
    if member is None:
        return MISSING
    if member.is_learner:
        return LEARNER
    if answer is None or answer.status is None:
        return NOT_KNOWN if answer is not None and not answer.state else UNHEALTHY
    if not answer.healthy:
        return UNHEALTHY
    return LEADER if answer.status.is_leader else VOTER


def assess_etcd(state: StatusInput, down: frozenset[str]) -> StatusPart:
    """Assess etcd of the cluster; `down` are nodes already reported as not running."""
    if state.desired.cluster is None:
        return part_off(StatusCheck.ETCD, "no cluster is configured")
    if state.talos is None:
        finding = unknown_finding(
            "etcd", "nobody asked the machines", "look again with `stockman status`"
        )
        return build_part(StatusCheck.ETCD, "not known", [finding])
    view = state.talos.etcd
    roles = members(state)
    items = [
        StatusItem(name=name, health=_HEALTH.get(role, Health.ERROR), summary=role)
        for name, role in roles.items()
    ]
    if not view.members and any(answer.status is not None for answer in view.answers):
        healthy, voters = len(view.healthy), len(roles)
        problem = say.etcd_quorum(healthy, voters, voters // 2 + 1)
        text = f"no leader, {healthy} of {voters} controllers have a healthy member"
        return build_part(
            StatusCheck.ETCD, text, [StatusFinding(subject="etcd", problem=problem)], items
        )
    if not view.members:
        why = "; ".join(
            f"{answer.node}: {answer.why or answer.state}" for answer in view.answers[:3]
        )
        finding = StatusFinding(
            subject="etcd", problem=say.etcd_silent(why or view.shown), unknown=True
        )
        return build_part(StatusCheck.ETCD, view.shown, [finding], items)
    findings = [*_quorum(view), *_members(state, view, down), *_other_findings(state, view)]
    least = worst_health(item.health for item in items)
    return build_part(StatusCheck.ETCD, _line(view), findings, items, least)


def _line(view: ObservedEtcd) -> str:
    leader = next(
        (
            answer.node
            for answer in view.answers
            if answer.status is not None and answer.status.is_leader
        ),
        "",
    )
    sizes = [answer.status.db_size for answer in view.answers if answer.status is not None]
    size = f", {max(sizes) / _MIB:.0f} MiB" if sizes else ""
    return f"{view.shown}, leader {leader or 'not known'}{size}"


def _quorum(view: ObservedEtcd) -> Iterator[StatusFinding]:
    if view.split:
        yield StatusFinding(subject="etcd", problem=split_etcd(view.split))
    if view.healthy_voters < view.quorum:
        problem = say.etcd_quorum(view.healthy_voters, len(view.voters), view.quorum)
        yield StatusFinding(subject="etcd", problem=problem)


def _members(
    state: StatusInput, view: ObservedEtcd, down: frozenset[str]
) -> Iterator[StatusFinding]:
    roles = members(state)
    answers = reports_by_node(view)
    for name, role in roles.items():
        answer = answers.get(name)
        if role == MISSING:
            yield StatusFinding(subject=name, problem=say.etcd_missing(name))
        elif role == LEARNER:
            problem = say.etcd_learner(name, state.address_of(name), _behind(view, answer))
            yield StatusFinding(subject=name, problem=as_warning(problem))
        elif role == UNHEALTHY:
            yield StatusFinding(
                subject=name,
                problem=say.etcd_unhealthy(name, state.address_of(name), _unknown_reason(answer)),
            )
        elif role == NOT_KNOWN and name not in down:
            why = answer.why if answer is not None and answer.why else "nobody asked it"
            yield unknown_finding(f"the etcd of {name}", why, "look again with `stockman status`")
    for member in view.members:
        if member.hostname and member.hostname not in roles:
            problem = as_warning(say.etcd_stranger(member.hex, member.hostname))
            yield StatusFinding(subject=member.hostname, problem=problem)


def _unknown_reason(answer: EtcdReport | None) -> str:
    if answer is None:
        return "nobody asked it"
    if answer.status is None:
        return answer.why or f"its service is {answer.state}"
    if answer.status.errors:
        return "; ".join(answer.status.errors)
    return "it follows no leader"


def _behind(view: ObservedEtcd, answer: EtcdReport | None) -> int | None:
    leader = [
        answer.status.raft_index
        for answer in view.answers
        if answer.status and answer.status.is_leader
    ]
    if not leader or answer is None or answer.status is None:
        return None
    return max(leader[0] - answer.status.raft_index, 0)


def _other_findings(state: StatusInput, view: ObservedEtcd) -> Iterator[StatusFinding]:
    names = {member.id: member.hostname or member.hex for member in view.members}
    if state.alarms is None:
        why = "no member told its alarms"
        fix = "look again with `stockman status`"
        yield unknown_finding("alarms of etcd", why, fix, is_error=False)
    for alarm in state.alarms or ():
        name = names.get(alarm.member, f"{alarm.member:016x}")
        yield StatusFinding(
            subject=name, problem=say.etcd_alarm(name, state.address_of(name), alarm.alarm)
        )
    for answer in view.answers:
        status = answer.status
        if status is not None and status.db_size >= QUOTA * _LARGE:
            problem = as_warning(
                say.etcd_large(answer.node, state.address_of(answer.node), status.db_size, QUOTA)
            )
            yield StatusFinding(subject=answer.node, problem=problem)
