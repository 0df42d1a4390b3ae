"""Steps: actions with everything that the engine needs to know about them."""

from __future__ import annotations

from enum import Enum

from stockman.model.record import record
from stockman.steps.base import Action, Gate, Hold


class Stage(Enum):
    """The stages of a run in their order, as selected with `--only`."""

    ACCESS = "access"
    IMAGES = "images"
    VMS = "vms"
    TALOS = "talos"
    KUBERNETES = "kubernetes"


@record
class Retry:
    """How often a step is repeated after a timeout, and how long to wait in between.

    Waits double from the first to the longest, and each is shortened randomly, so that parallel
    steps do not retry at the same time.
    """

    attempts: int = 5
    """Maximum number of attempts, including the first one."""
    first_wait: float = 1.0
    """Seconds."""
    longest_wait: float = 30.0
    """Seconds."""


@record
class Step:
    """One node of the plan's graph."""

    id: str
    """Short, stable between plans of the same change, unique: `vms/create/cp-1`."""
    action: Action
    stage: Stage
    reason: str = ""
    """Why it is in the plan, with both values."""
    gates: tuple[Gate, ...] = ()
    """Preconditions, checked in this order."""
    holds: tuple[Hold, ...] = ()
    """Holds that are taken for it; equal holds of several steps are shared."""
    needs: tuple[str, ...] = ()
    """Ids of steps that have to finish before it."""
    deadline: float = 600.0
    """Timeout in seconds, including the wait for gates."""
    retry: Retry = Retry()
    cleans_up: str = ""
    """Step that it cleans up after: every part of the plan with that step has this one too. Empty:
    none."""
    lanes: tuple[str, ...] = ()
    """Resources it uses: `storage/k8s/local-zfs`, `host/k8s/pve1`, `etcd`; see `Plan.lanes`."""
    node: str = ""
    """The node or guest, as selected with `--node`. Empty: the whole cluster."""
    seconds: float = 5.0
    """Expected duration."""
