"""Kubernetes: one cluster, behind one door."""

from __future__ import annotations

from typing import Protocol

from stockman.kubernetes.leases import Leases
from stockman.kubernetes.nodes import Nodes
from stockman.kubernetes.objects import Evictions, Objects, Scaling, Watches
from stockman.kubernetes.pods import Logs, Pods
from stockman.kubernetes.server import Access, Server


class Kubernetes(
    Objects,
    Watches,
    Nodes,
    Pods,
    Evictions,
    Scaling,
    Leases,
    Logs,
    Server,
    Access,
    Protocol,
):
    """The API of one cluster.

    Objects are plain mappings, as they stand in JSON; what is read often has a record of its own.
    Each call is made once; only a read whose connection was dead is repeated, once. What goes
    wrong is one of `NotFound`, `Conflict` (`AlreadyThere`, `FieldConflict` where others own
    fields, `Locked` where somebody holds a lease), `Denied` (`NotAllowed` names verb and
    resource), `Rejected` (`Invalid` has the causes, `Unsupported` where a kind is not served),
    `Expired`, `Unreachable` (`Busy` where the server wants to be left alone), `Refused` and, where
    nobody knows whether it was done, `Uncertain`.
    """
