"""Records of the certificates of a workspace."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.talos.lifetimes import Standing

Kind = Literal["authority", "client"]


@record
class ListedCertificate:
    """One certificate."""

    file: str
    name: str
    """What it is called in the file: `certs.os`, or a context or user."""
    kind: Kind
    subject: str
    organizations: tuple[str, ...]
    """Roles of a client of Talos, groups of one of Kubernetes."""
    ours: bool | None
    """Whether an authority of the bundle signed it. None: the bundle could not be opened."""
    ends: datetime
    days_left: int
    """Whole days; below zero once it has ended."""
    standing: Standing
    renew: str
    """What makes it anew."""


@record
class CertificateList:
    """All that were found, and what is wrong."""

    certificates: tuple[ListedCertificate, ...]
    problems: tuple[Problem, ...]
    not_read: tuple[Problem, ...]
    """Why files that are there could not be looked at."""
