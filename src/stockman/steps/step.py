"""Steps: an action with everything that the engine has to know about it."""

from __future__ import annotations

from enum import Enum

from stockman.model.record import record
from stockman.steps.base import Action, Gate, Hold


class Stage(Enum):
    """The parts of a run, in their order; `--only` names them."""

    ACCESS = "access"
    IMAGES = "images"
    VMS = "vms"
    TALOS = "talos"
    KUBERNETES = "kubernetes"


@record
class Retry:
    """How often something is tried again that nobody answered, and how long to wait in between.

    Waits double from the first to the longest, and each is shortened by chance, so that many who
    wait do not come back together.
    """

    attempts: int = 5
    """How often at most, the first time included."""
    first_wait: float = 1.0
    """Seconds."""
    longest_wait: float = 30.0
    """Seconds."""


NO_RETRY = Retry(attempts=1)


@record
class Step:
    """One node of the plan's graph."""

    id: str
    """Short, stable between plans of the same change, unique: `vms/create/cp-1`."""
    action: Action
    stage: Stage
    reason: str = ""
    """Why it is in the plan, with the two values that differ."""
    gates: tuple[Gate, ...] = ()
    """What has to hold before it has an effect, asked in this order."""
    holds: tuple[Hold, ...] = ()
    """What is taken for it; see `Hold` for those that several steps name."""
    needs: tuple[str, ...] = ()
    """Steps that have to be finished before, by id."""
    deadline: float = 600.0
    """Seconds from its start (gates included) until it has failed."""
    retry: Retry = Retry()
    lanes: tuple[str, ...] = ()
    """What it keeps busy: `storage/k8s/local-zfs`, `host/k8s/pve1`, `etcd`; see `Plan.lanes`."""
    node: str = ""
    """The node or guest it is about; `--node` names it. Empty: the whole cluster."""
    seconds: float = 5.0
    """How long it takes, by experience."""
