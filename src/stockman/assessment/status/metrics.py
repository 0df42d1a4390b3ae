"""Prometheus metrics of a status, and the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import Enum

from stockman.assessment.status.findings import Health, StatusCheck
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.status import Status
from stockman.model.record import record
from stockman.planning.fact import Fact


class MetricKind(Enum):
    """Prometheus metric types."""

    GAUGE = "gauge"
    SUMMARY = "summary"


@record
class Sample:
    """One value of a metric."""

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""
    """`_sum` or `_count` of a summary."""


@record
class Metric:
    """A metric with all of its samples."""

    name: str
    help: str
    kind: MetricKind
    samples: tuple[Sample, ...]


def gauge(name: str, help_: str, *samples: Sample) -> Metric:
    """Return a gauge, a metric that can go up and down."""
    return Metric(name=name, help=help_, kind=MetricKind.GAUGE, samples=samples)


def prometheus_text(metrics: Iterable[Metric]) -> str:
    """Return metrics in the Prometheus text format, without those that have no samples."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    if not metric.samples:
        return
    yield f"# HELP {metric.name} {_escape(metric.help)}"
    yield f"# TYPE {metric.name} {metric.kind.value}"
    for sample in metric.samples:
        labels = ",".join(f'{name}="{_quote(text)}"' for name, text in sample.labels.items())
        shown = f"{{{labels}}}" if labels else ""
        yield f"{metric.name}{sample.suffix}{shown} {_number(sample.value)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.3f}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _quote(text: str) -> str:
    return _escape(text).replace('"', r"\"")


def status_metrics(status: Status, state: StatusInput) -> tuple[Metric, ...]:
    """Return all metrics; unknown ones have no samples."""
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
                    value=float(status_part.health is health),
                    labels={**cluster, "check": status_part.check.value, "state": health.value},
                )
                for status_part in status.parts
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
        *_certificates(status, state),
        *_backups(status, state),
        *_etcd(status, state),
        *_hosts(status, state),
    )


def _problems(status: Status) -> Metric:
    problems = Counter(
        (status_part.check.value, finding.problem.code, finding.problem.severity.value)
        for status_part in status.parts
        for finding in status_part.findings
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
            for (check, code, severity), count in sorted(problems.items())
        ),
    )


def _certificates(status: Status, state: StatusInput) -> Iterator[Metric]:
    if state.certificates is None:
        return
    ends = {
        (certificate.file, certificate.name, certificate.kind): certificate.ends.timestamp()
        for certificate in state.certificates.certificates
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


def _backups(status: Status, state: StatusInput) -> Iterator[Metric]:
    if status.part(StatusCheck.BACKUPS) is None:
        return
    yield gauge(
        "stockman_backup_newest_timestamp_seconds",
        "When the newest snapshot of etcd was stored.",
        *(
            Sample(
                value=backup.newest.timestamp(),
                labels={"cluster": status.cluster, "target": backup.target},
            )
            for backup in state.backups or ()
            if backup.newest is not None
        ),
    )


def _etcd(status: Status, state: StatusInput) -> Iterator[Metric]:
    if status.part(StatusCheck.ETCD) is None or state.talos is None or not state.talos.etcd.members:
        return
    view, cluster = state.talos.etcd, {"cluster": status.cluster}
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


def _hosts(status: Status, state: StatusInput) -> Iterator[Metric]:
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
            for region, observed in state.observed.proxmox.items()
            if isinstance(observed.state, Fact)
            for member in observed.state.value.members
        ),
    )
