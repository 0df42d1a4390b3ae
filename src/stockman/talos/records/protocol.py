"""Talos: all machines of one cluster, behind one door, and machines that are in none yet."""

from __future__ import annotations

from typing import Protocol

from stockman.talos.records.etcd import Etcd
from stockman.talos.records.kubernetes import Clients, KubernetesParts
from stockman.talos.records.machines import Disks, Files, Machines, Networks, Observing
from stockman.talos.records.operations import Configurations, Images, Maintenance, Power, Upgrades


class Talos(
    Machines,
    Networks,
    Disks,
    KubernetesParts,
    Configurations,
    Clients,
    Etcd,
    Power,
    Upgrades,
    Images,
    Observing,
    Files,
    Maintenance,
    Protocol,
):
    """The machines of one cluster.

    `node` is the address of the machine that is meant; whoever takes the call carries it on. Each
    call is made once; only a read whose connection was dead is repeated, once. What goes wrong is
    one of `NotFound`, `Conflict` (`Locked` where somebody works on it), `Denied`, `Rejected`
    (`Unsupported` where this Talos does not know the call), `Unreachable`, `Refused` and, where
    nobody knows whether it was done, `Uncertain`.

    What is not told is not guessed: an answer without the figures that it has to have, or with
    figures that contradict each other, is `Rejected`.
    """
