"""Metrics in the Prometheus text format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import Enum

from stockman.model.record import record


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
