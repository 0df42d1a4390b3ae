"""Certificates: those of clients, and the authorities of the bundle."""

from __future__ import annotations

from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    build_part,
    disabled_part,
    unknown_finding,
)
from stockman.assessment.status.observed import StatusInput
from stockman.talos.credentials.certificates import CertificateState

_HEALTH = {CertificateState.ENDED: Health.ERROR, CertificateState.DUE: Health.WARNING}


def assess_certificates(seen: StatusInput) -> StatusPart:
    """Every certificate of the directory."""
    if seen.desired.cluster is None:
        return disabled_part(StatusCheck.CERTIFICATES, "no cluster is configured")
    found = seen.certificates
    if found is None or not (found.certificates or found.not_read):
        why = "there is no secrets bundle, talosconfig or kubeconfig in this directory"
        fix = "make them with `stockman secrets create` and `stockman config talosconfig`"
        return build_part(
            StatusCheck.CERTIFICATES, "there are none", [unknown_finding("certificates", why, fix)]
        )
    findings = [
        *(StatusFinding(subject=str(one.where), problem=one) for one in found.problems),
        *(
            StatusFinding(subject=str(one.where), problem=one, unknown=True)
            for one in found.not_read
        ),
    ]
    items = [
        StatusItem(
            name=f"{one.name} in {one.file}",
            health=_HEALTH.get(one.standing, Health.OK),
            seen=f"until {one.ends:%Y-%m-%d}, {one.days_left} days left",
        )
        for one in found.certificates
    ]
    first = min(found.certificates, key=lambda one: one.ends, default=None)
    text = f"{len(found.certificates)} certificates"
    if first is not None:
        text += f", the first ends {first.ends:%Y-%m-%d} ({first.name} in {first.file})"
    return build_part(StatusCheck.CERTIFICATES, text, findings, items)
