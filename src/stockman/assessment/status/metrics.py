"""The status of a cluster for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.assessment.prometheus import Metric, Sample, gauge
from stockman.assessment.status.findings import Health, StatusCheck
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.status import Status
from stockman.planning.fact import Fact


def status_metrics(status: Status, seen: StatusInput) -> tuple[Metric, ...]:
    """All metrics; what is not known has no value."""
    cluster = {"cluster": status.cluster}
    return (
        gauge(
            "stockman_healthy",
            "Whether everything works that was looked at: 1, or 0.",
            Sample(value=float(status.healthy), labels=cluster),
        ),
        gauge(
            "stockman_look_timestamp_seconds",
            "When everything was looked at last.",
            Sample(value=status.at.timestamp(), labels=cluster),
        ),
        gauge(
            "stockman_check_state",
            "How each part is: 1 for one of the states.",
            *(
                Sample(
                    value=float(part.health is health),
                    labels={**cluster, "check": part.check.value, "state": health.value},
                )
                for part in status.parts
                for health in Health
            ),
        ),
        _problems(status),
        gauge(
            "stockman_node_healthy",
            "Whether a node is well from its VM to its kubelet: 1, or 0.",
            *(
                Sample(
                    value=float(node.health in (Health.OK, Health.WARNING)),
                    labels={**cluster, "node": node.name, "role": node.role},
                )
                for node in status.nodes
            ),
        ),
        *_certificates(status, seen),
        *_backups(status, seen),
        *_etcd(status, seen),
        *_hosts(status, seen),
    )


def _problems(status: Status) -> Metric:
    found = Counter(
        (part.check.value, one.problem.code, one.problem.severity.value)
        for part in status.parts
        for one in part.findings
    )
    return gauge(
        "stockman_problems",
        "How many problems there are of which kind.",
        *(
            Sample(
                value=count,
                labels={
                    "cluster": status.cluster,
                    "check": check,
                    "code": code,
                    "severity": severity,
                },
            )
            for (check, code, severity), count in sorted(found.items())
        ),
    )


def _certificates(status: Status, seen: StatusInput) -> Iterator[Metric]:
    if seen.certificates is None:
        return
    ends = {
        (one.file, one.name, one.kind): one.ends.timestamp()
        for one in seen.certificates.certificates
    }
    yield gauge(
        "stockman_certificate_end_timestamp_seconds",
        "Until when a certificate holds.",
        *(
            Sample(
                value=end,
                labels={"cluster": status.cluster, "file": file, "name": name, "kind": kind},
            )
            for (file, name, kind), end in ends.items()
        ),
    )


def _backups(status: Status, seen: StatusInput) -> Iterator[Metric]:
    if status.part(StatusCheck.BACKUPS) is None:
        return
    yield gauge(
        "stockman_backup_newest_timestamp_seconds",
        "When the newest snapshot of etcd was stored.",
        *(
            Sample(
                value=one.newest.timestamp(),
                labels={"cluster": status.cluster, "target": one.target},
            )
            for one in seen.backups or ()
            if one.newest is not None
        ),
    )


def _etcd(status: Status, seen: StatusInput) -> Iterator[Metric]:
    if status.part(StatusCheck.ETCD) is None or seen.talos is None or not seen.talos.etcd.members:
        return
    view, cluster = seen.talos.etcd, {"cluster": status.cluster}
    yield gauge(
        "stockman_etcd_voters",
        "Members of etcd that vote.",
        Sample(value=len(view.voters), labels=cluster),
    )
    yield gauge(
        "stockman_etcd_healthy_voters",
        "Members of etcd that vote, answer and follow a leader.",
        Sample(value=view.healthy_voters, labels=cluster),
    )


def _hosts(status: Status, seen: StatusInput) -> Iterator[Metric]:
    if status.part(StatusCheck.PROXMOX) is None:
        return
    yield gauge(
        "stockman_proxmox_host_online",
        "Whether the Proxmox cluster sees a host: 1, or 0.",
        *(
            Sample(
                value=float(member.online),
                labels={"cluster": status.cluster, "region": region, "host": str(member.name)},
            )
            for region, one in seen.observed.proxmox.items()
            if isinstance(one.state, Fact)
            for member in one.state.value.members
        ),
    )
