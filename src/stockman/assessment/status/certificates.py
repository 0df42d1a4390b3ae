"""Status of client certificates and certificate authorities."""

from __future__ import annotations

from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    build_part,
    part_off,
    unknown_finding,
)
from stockman.assessment.status.observed import StatusInput
from stockman.talos.credentials.certificates import CertificateState

_HEALTH = {CertificateState.ENDED: Health.ERROR, CertificateState.DUE: Health.WARNING}


def assess_certificates(state: StatusInput) -> StatusPart:
    """Assess every certificate of the directory."""
    if state.desired.cluster is None:
        return part_off(StatusCheck.CERTIFICATES, "no cluster is configured")
    listing = state.certificates
    if listing is None or not (listing.certificates or listing.not_read):
        why = "there is no secrets bundle, talosconfig or kubeconfig in this directory"
        fix = "make them with `stockman secrets create` and `stockman config talosconfig`"
        return build_part(
            StatusCheck.CERTIFICATES, "there are none", [unknown_finding("certificates", why, fix)]
        )
    findings = [
        *(
            StatusFinding(subject=str(problem.where), problem=problem)
            for problem in listing.problems
        ),
        *(
            StatusFinding(subject=str(problem.where), problem=problem, unknown=True)
            for problem in listing.not_read
        ),
    ]
    items = [
        StatusItem(
            name=f"{problem.name} in {problem.file}",
            health=_HEALTH.get(problem.standing, Health.OK),
            summary=f"until {problem.ends:%Y-%m-%d}, {problem.days_left} days left",
        )
        for problem in listing.certificates
    ]
    first = min(listing.certificates, key=lambda problem: problem.ends, default=None)
    text = f"{len(listing.certificates)} certificates"
    if first is not None:
        text += f", the first ends {first.ends:%Y-%m-%d} ({first.name} in {first.file})"
    return build_part(StatusCheck.CERTIFICATES, text, findings, items)
