"""Client certificates for the clusters of a workspace, made with the authorities of its bundle."""

from __future__ import annotations

from datetime import datetime, timedelta

from stockman.app.client_files import Doors
from stockman.crypto.certificates import facts
from stockman.model.desired import Cluster
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.talos.bundle import SecretsBundle
from stockman.talos.clients import Issuer

_DAY = timedelta(days=1)


def issuer(bundle: SecretsBundle, cluster: Cluster, doors: Doors) -> Issuer:
    """Who makes certificates now; the contract decides which roles there are."""
    return Issuer(
        bundle=bundle,
        talos=cluster.talos.contract,
        now=doors.clock.now(),
        random_bytes=doors.entropy.random_bytes,
    )


def lifetime_below(authority: str, name: str, wished: timedelta, now: datetime) -> timedelta:
    """How long a certificate may hold: as wished, but never longer than its authority.

    Refuses where the authority has ended.
    """
    left = facts(authority).period.end - now
    if left <= timedelta():
        raise Refused(
            Problem(
                code="client.authority-ended",
                what=f"the authority certs.{name} of the secrets bundle has ended",
                why="no machine believes a certificate of it any more",
                fix="give the cluster new authorities (`talosctl rotate-ca`) and import them",
            )
        )
    return min(wished, left)


def days_left(crt: str, now: datetime) -> tuple[datetime, int]:
    """When a certificate ends, and how many whole days that is from now."""
    end = facts(crt).period.end
    return end, (end - now) // _DAY
