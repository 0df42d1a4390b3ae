"""What one attempt of a Kustomization is about: its times, its objects, its changes."""

from __future__ import annotations

from stockman_lab.kube.flux.applying import SKIPPED, UNCHANGED
from stockman_lab.kube.flux.applying import Change as Done
from stockman_lab.kube.flux.inventory import Entry
from stockman_lab.kube.objects import Object, part_of
from stockman_lab.talos.cosi.encoding import duration_text, seconds_of

_LEAST_TIMEOUT = 30.0


def span_text(seconds: float) -> str:
    """A length of time as Go writes it, below a second in thousandths."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:.3f}".rstrip("0").rstrip(".") + "ms"
    return duration_text(round(seconds, 3))


def interval_of(spec: Object) -> float:
    return seconds_of(str(spec.get("interval") or "10m"))


def timeout_of(spec: Object) -> float:
    timeout = spec.get("timeout")
    seconds = seconds_of(str(timeout)) if timeout else interval_of(spec) - _LEAST_TIMEOUT
    return max(seconds, _LEAST_TIMEOUT)


def told(done: list[Done]) -> str:
    return "\n".join(str(one) for one in done if one.action not in {UNCHANGED, SKIPPED})


def referred(told: Object) -> Entry:
    content = {
        "apiVersion": told.get("apiVersion") or "apps/v1",
        "kind": told.get("kind"),
        "metadata": {"name": told.get("name"), "namespace": told.get("namespace") or ""},
    }
    return Entry.of(content)


def short_lived(objects: list[Object]) -> list[str]:
    """Jobs that go by themselves when they are done."""
    return [
        str(Entry.of(one).written["id"])
        for one in objects
        if one.get("kind") == "Job" and "ttlSecondsAfterFinished" in part_of(one, "spec")
    ]
