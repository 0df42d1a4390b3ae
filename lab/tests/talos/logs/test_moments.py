"""Moments in logs."""

from __future__ import annotations

from stockman_lab.talos.logs.moments import cri_moment, go_moment, log_moment, zap_moment

AT = 1_767_225_600.5


def test_every_log_has_its_own_form() -> None:
    assert go_moment(AT) == "2026-01-01T00:00:00.5Z"
    assert go_moment(1_767_225_600.0) == "2026-01-01T00:00:00Z"
    assert zap_moment(AT) == "2026-01-01T00:00:00.500Z"
    assert cri_moment(AT) == "2026-01-01T00:00:00.500000000Z"
    assert log_moment(AT) == "2026/01/01 00:00:00.500000"
