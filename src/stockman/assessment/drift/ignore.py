"""Rules in the configuration that ignore drift until a date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from stockman.assessment.drift.report import Drift, DriftValue, IgnoredDrift
from stockman.model.policies import DriftRule

_ANY = "*"


def find_expired(rules: Iterable[DriftRule], today: date) -> tuple[DriftRule, ...]:
    """Return rules whose last day has passed."""
    return tuple(rule for rule in rules if rule.last_day < today)


def apply_ignore_rules(
    drifts: Iterable[Drift], rules: Sequence[DriftRule], today: date
) -> tuple[tuple[Drift, ...], tuple[IgnoredDrift, ...]]:
    """Separate drift that counts from ignored drift; one drift may be split by its values."""
    valid = [rule for rule in rules if rule.last_day >= today]
    kept: list[Drift] = []
    ignored: list[IgnoredDrift] = []
    for drift in drifts:
        left: Drift | None = drift
        for rule in valid:
            if left is None or not _matches_rule(rule, left):
                continue
            left, gone = _split_drift(rule, left)
            if gone is not None:
                ignored.append(IgnoredDrift(drift=gone, reason=rule.reason, until=rule.until))
        if left is not None:
            kept.append(left)
    return tuple(kept), tuple(ignored)


def _matches_rule(rule: DriftRule, drift: Drift) -> bool:
    return rule.layer == drift.layer.value and fnmatchcase(drift.subject, rule.subject)


def _split_drift(rule: DriftRule, drift: Drift) -> tuple[Drift | None, Drift | None]:
    """Return what counts and what is ignored; a rule for any key ignores drift without values."""
    if rule.field == _ANY:
        return None, drift
    meant = tuple(value for value in drift.values if fnmatchcase(value.key, rule.field))
    if not meant:
        return drift, None
    counted = tuple(value for value in drift.values if value not in meant)
    return _with_values(drift, counted), _with_values(drift, meant)


def _with_values(drift: Drift, values: tuple[DriftValue, ...]) -> Drift | None:
    return replace(drift, values=values) if values else None
