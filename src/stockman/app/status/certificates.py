"""Certificates: those of clients, and the authorities of the bundle."""

from __future__ import annotations

from stockman.app.status.finding import Check, Finding, Item, Part, off, part, unknown
from stockman.app.status.health import Health
from stockman.app.status.seen import Seen
from stockman.talos.lifetimes import Standing

_HEALTH = {Standing.ENDED: Health.ERROR, Standing.DUE: Health.WARNING}


def judged_certificates(seen: Seen) -> Part:
    """Every certificate of the directory."""
    if seen.desired.cluster is None:
        return off(Check.CERTIFICATES, "no cluster is configured")
    found = seen.certificates
    if found is None or not (found.certificates or found.not_read):
        why = "there is no secrets bundle, talosconfig or kubeconfig in this directory"
        fix = "make them with `stockman secrets create` and `stockman config talosconfig`"
        return part(Check.CERTIFICATES, "there are none", [unknown("certificates", why, fix)])
    findings = [
        *(Finding(subject=str(one.where), problem=one) for one in found.problems),
        *(Finding(subject=str(one.where), problem=one, unknown=True) for one in found.not_read),
    ]
    items = [
        Item(
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
    return part(Check.CERTIFICATES, text, findings, items)
