"""Secrets that a run uses are nowhere in what it writes down or tells."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import ClassVar

import pytest

from stockman.engine.journal import JournalEntry, entry_json
from stockman.engine.lifecycle import start_run
from stockman.model.errors import Uncertain
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.steps.plan import render_plan
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from tests.engine.storage import trouble
from tests.engine.toys import Make, Scene, make, pieces, plan_of, way

CANARY = "canary-that-must-not-sing"
PLACE = SecretRef(place="sops:talos/talsecret.sops.yaml#secrets.token")


class Vault:
    """`Secrets` with one secret in it."""

    async def read(self, ref: SecretRef) -> Secret:
        return Secret(CANARY, resolved=True)

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        return


@record
class Seal(Make):
    """Put a secret into the world, and complain once on the way."""

    kind: ClassVar[str] = "test.seal"
    password: SecretRef

    async def run(self, ports: Ports) -> None:
        secret = await ports.to_secrets().read(self.password)
        await ports.to_objects().put(self.key, pieces(secret.reveal()))
        no = trouble(Uncertain, self.key)
        raise Uncertain(replace(no.problem, why=f"sent {secret} and lost the answer"))


def test_a_secret_reaches_the_world_and_nothing_else() -> None:
    scene = Scene()
    texts: list[str] = []

    def watch(entry: JournalEntry) -> None:
        texts.extend((entry_json(entry), repr(entry)))

    plan = plan_of(make("a", action=Seal(key="a", password=PLACE)))
    home, ports = scene.process()
    how = way(watchers=(watch,))
    outcome = asyncio.run(start_run(home, plan, replace(ports, secrets=Vault()), how))

    assert scene.world.content["a"] == CANARY.encode()
    kept = b"".join(scene.kept.content.values()).decode()
    assert "sent *** and lost the answer" in kept
    for text in (kept, render_plan(plan), repr(plan), repr(outcome), *texts):
        assert CANARY not in text


def test_an_action_cannot_be_given_the_secret_itself() -> None:
    with pytest.raises(TypeError) as caught:
        Seal(key="a", password=Secret(CANARY))  # type: ignore[arg-type]

    assert CANARY not in str(caught.value)
