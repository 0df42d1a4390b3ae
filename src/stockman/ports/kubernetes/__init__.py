"""Kubernetes: one cluster, behind one door."""

from __future__ import annotations

from typing import Protocol

from stockman.ports.kubernetes.access import Access
from stockman.ports.kubernetes.eviction import Evictions
from stockman.ports.kubernetes.leases import Leases
from stockman.ports.kubernetes.logs import Logs
from stockman.ports.kubernetes.nodes import Nodes
from stockman.ports.kubernetes.objects import Objects
from stockman.ports.kubernetes.pods import Pods
from stockman.ports.kubernetes.scaling import Scaling
from stockman.ports.kubernetes.server import Server
from stockman.ports.kubernetes.watching import Watching


class Kubernetes(
    Objects,
    Watching,
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
