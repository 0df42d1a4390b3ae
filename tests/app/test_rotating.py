"""Renewed tokens on their way into a cluster: old ones go when everybody can have the new."""

from __future__ import annotations

from dataclasses import replace

from stockman.app.runs.apply import PUSHED, TokenDelivery, add_delivery
from stockman.steps.access.delivery import SecretDelivered
from stockman.steps.base import Checkpoint
from stockman.steps.repository import CommitPushed
from stockman.steps.step import Stage, Step

WAY = TokenDelivery(cluster="k8s", branch="main", request="now")
RENEW, OWN, READERS = "access/renew/pve/new", "access/drop/pve/own", "access/restart/pve/csi"


def made() -> list[Step]:
    gate = SecretDelivered(namespace="csi", secret="config", key="config.yaml", token="csi-2")
    return [
        _step(RENEW),
        _step(OWN, needs=(RENEW,)),
        Step(
            id=READERS,
            action=Checkpoint(text="restart"),
            stage=Stage.KUBERNETES,
            gates=(gate,),
            needs=(RENEW,),
        ),
    ]


def _step(name: str, needs: tuple[str, ...] = ()) -> Step:
    return Step(id=name, action=Checkpoint(text=name), stage=Stage.ACCESS, needs=needs)


def test_our_own_old_token_goes_after_the_new_one_is_pushed() -> None:
    steps = {step.id: step for step in add_delivery(made(), WAY, push=False)}

    assert steps[OWN].needs == (RENEW, PUSHED)
    assert steps[PUSHED].needs == ("access/render",)


def test_pods_begin_anew_after_flux_was_asked_to_look() -> None:
    steps = {step.id: step for step in add_delivery(made(), WAY, push=True)}

    assert steps[READERS].needs == (RENEW, "kubernetes/reconcile/gitrepositories")
    assert steps[PUSHED].needs == ("kubernetes/push",)


def test_steps_stand_after_what_they_need() -> None:
    steps = add_delivery(made(), WAY, push=True)

    names = [step.id for step in steps]
    assert all(names.index(need) < names.index(step.id) for step in steps for need in step.needs)


def test_without_a_cluster_nothing_is_rendered_and_the_tokens_are_pushed() -> None:
    steps = {step.id: step for step in add_delivery(made(), replace(WAY, cluster=""), push=True)}

    assert "access/render" not in steps
    assert steps["kubernetes/push"].needs == (RENEW,)


def test_the_file_that_keeps_tokens_has_to_be_committed_before_old_ones_go() -> None:
    (gate,) = next(
        step for step in add_delivery(made(), WAY, push=False) if step.id == PUSHED
    ).gates

    assert isinstance(gate, CommitPushed)
    assert "talos" in gate.places
