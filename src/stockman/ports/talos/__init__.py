"""Talos: all machines of one cluster, behind one door, and machines that are in none yet."""

from __future__ import annotations

from typing import Protocol

from stockman.ports.talos.clients import Clients
from stockman.ports.talos.configuration import Configurations
from stockman.ports.talos.disks import Disks
from stockman.ports.talos.etcd import Etcd
from stockman.ports.talos.files import Files
from stockman.ports.talos.images import Images
from stockman.ports.talos.kubernetes import KubernetesParts
from stockman.ports.talos.machines import Machines
from stockman.ports.talos.maintenance import Maintenance
from stockman.ports.talos.network import Networks
from stockman.ports.talos.observing import Observing
from stockman.ports.talos.power import Power
from stockman.ports.talos.upgrades import Upgrades


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
