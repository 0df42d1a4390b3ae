"""Labels, annotations and taints of a Kubernetes node."""

from __future__ import annotations

from stockman.talos.validation.forms import why_no_label_key, why_no_label_value
from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RESERVED = ("talos.dev/owned-labels", "talos.dev/owned-annotations", "talos.dev/owned-taints")
_LONGEST_ANNOTATIONS = 256 * 1024


def check_labels(report: Report, part: Part) -> None:
    for key, entry in part.entries.items():
        for wrong in (why_no_label_key(key), why_no_label_value(entry.text)):
            if wrong:
                _bad_label(report, entry, f"the label {key}", wrong)


def check_annotations(report: Report, part: Part) -> None:
    size = 0
    for key, entry in part.entries.items():
        wrong = why_no_label_key(key)
        if wrong or key in _RESERVED:
            reason = wrong or "Talos keeps its own notes there"
            _bad_label(report, entry, f"the annotation {key}", reason)
        size += len(key.encode()) + len(entry.text.encode())
    if size > _LONGEST_ANNOTATIONS:
        _bad_label(
            report, part, part.name, f"annotations have {_LONGEST_ANNOTATIONS} bytes at most"
        )


def check_taints(report: Report, part: Part) -> None:
    for key, entry in part.entries.items():
        value, colon, effect = entry.text.partition(":")
        wrong = why_no_label_key(key)
        if not wrong and (effect if colon else value) not in _EFFECTS:
            wrong = f"its effect is none of {', '.join(_EFFECTS)}"
        if not wrong and colon:
            wrong = why_no_label_value(value)
        if wrong:
            _bad_label(report, entry, f"the taint {key}", wrong)


def _bad_label(report: Report, part: Part, what: str, why: str) -> None:
    report.error(
        "machine.label",
        part,
        f"{what} does not have the form that Kubernetes takes",
        why=why,
        fix="write it as Kubernetes does, example.com/rack: a; taints as value:NoSchedule",
    )
