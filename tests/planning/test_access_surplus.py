"""Rights of components that were switched off: taken away last, and only what stockman made."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from stockman.model.problem import Problems
from stockman.planning.access.desired import list_desired_tokens
from stockman.planning.access.surplus import find_surplus_access, plan_surplus_removal
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.desired import DesiredState, ProxmoxOptions
from stockman.planning.observed.kubernetes import ObjectOwner, ObservedKubernetes, ObservedObject
from stockman.planning.observed.systems import Observed
from stockman.steps.access.delivery import TokenUnused
from stockman.steps.base import Checkpoint
from stockman.steps.step import Stage, Step
from tests.planning.estate import Estate, perform

CSI, ROLE = "stockman-csi@pve", "StockmanCSI"
MADE = "proxmox-csi, by stockman"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
PUSHED = Step(
    id="kubernetes/push", action=Checkpoint(text="push"), stage=Stage.KUBERNETES, reason="test"
)


@pytest.fixture
def estate() -> Estate:
    """A Proxmox cluster in which a component was at work that the files do not have."""
    estate = Estate("three-node")
    pve = estate.pve
    pve.post("/access/users", userid=CSI, comment=MADE)
    pve.post("/access/roles", roleid=ROLE, privs="VM.Audit")
    pve.post(f"/access/users/{CSI}/token/csi", comment=MADE)
    pve.put("/access/acl", path="/", roles=ROLE, users=CSI)
    pve.put("/access/acl", path="/", roles=ROLE, tokens=f"{CSI}!csi")
    return estate


def kubernetes(*releases: str) -> ObservedKubernetes:
    flux = tuple(
        ObservedObject(
            kind="HelmRelease", namespace="csi", name=name, uid="1", owner=ObjectOwner.FLUX
        )
        for name in releases
    )
    return ObservedKubernetes(at=NOW, source="test", version="v1.36.3", releases=(), flux=flux)


async def changes(
    estate: Estate,
    problems: Problems,
    seen: ObservedKubernetes | None,
    *,
    push: bool = False,
    stale: tuple[str, ...] = (),
) -> tuple[ProxmoxChange, ...]:
    observed = Observed(at=NOW, proxmox=await estate.observe_all(), kubernetes=seen)
    desired_state = DesiredState(desired=estate.desired, push=push, stale=stale)
    return tuple(plan_surplus_removal(desired_state, observed, (PUSHED,) if push else (), problems))


async def test_what_the_cluster_has_let_go_is_taken_away_and_named_plainly(
    estate: Estate,
) -> None:
    (change,) = await changes(estate, Problems(), kubernetes())

    user, role = change.steps
    assert (change.mark, change.stage, user.stage) == (
        ChangeKind.REMOVE,
        Stage.ACCESS,
        Stage.ACCESS,
    )
    assert change.what == f"user {CSI} and role {ROLE} in {estate.region}"
    assert change.destroys.startswith(f"user {CSI} with its tokens")
    assert role.needs == (user.id,)
    assert [type(gate) for gate in user.gates] == [TokenUnused]


async def test_user_token_rights_and_role_are_gone_afterwards(estate: Estate) -> None:
    (change,) = await changes(estate, Problems(), kubernetes())

    for step in change.steps:
        await perform(step.action, estate.ports())

    assert await changes(estate, Problems(), kubernetes()) == ()
    assert CSI not in str(estate.pve.get("/access/acl"))


async def test_a_role_that_was_left_alone_by_a_kill_is_taken_away_too(estate: Estate) -> None:
    (change,) = await changes(estate, Problems(), kubernetes())
    await perform(change.steps[0].action, estate.ports())

    (left,) = await changes(estate, Problems(), kubernetes())

    assert left.what == f"role {ROLE} in {estate.region}"
    assert left.destroys == ""


async def test_what_the_cluster_works_with_stays_until_it_is_pushed(estate: Estate) -> None:
    problems = Problems()

    there = kubernetes("proxmox-csi", "proxmox-csi-plugin")
    stays = await changes(estate, problems, there)
    kept = await changes(estate, problems, there, push=True, stale=("kubernetes/apps/csi.yaml",))
    (goes,) = await changes(estate, Problems(), there, push=True)

    assert (stays, kept) == ((), ())
    assert [problem.code for problem in problems] == ["access.still-used"]
    assert goes.steps[0].needs == (PUSHED.id,)
    assert {step.stage for step in goes.steps} == {Stage.KUBERNETES}


async def test_nothing_goes_while_nobody_knows_what_the_cluster_has(estate: Estate) -> None:
    silent = replace(kubernetes(), version=None)
    unread = replace(kubernetes(), flux=None)

    assert await changes(estate, Problems(), None) == ()
    assert await changes(estate, Problems(), silent) == ()
    assert await changes(estate, Problems(), unread) == ()


async def test_a_user_with_tokens_of_others_stays(estate: Estate) -> None:
    estate.pve.post(f"/access/users/{CSI}/token/backup", comment="anna")
    problems = Problems()

    found = await changes(estate, problems, kubernetes())

    assert found == ()
    (told,) = problems
    assert (told.code, told.is_error) == ("access.not-alone", False)
    assert "backup" in told.why


async def test_users_that_stockman_did_not_make_are_never_surplus(estate: Estate) -> None:
    estate.pve.put(f"/access/users/{CSI}", comment="made by anna")

    (cluster,) = estate.desired.proxmox
    surplus_access = find_surplus_access(estate.desired, cluster, await estate.observe())

    assert surplus_access == ()


async def test_users_that_another_cluster_may_need_stay(estate: Estate) -> None:
    await estate.apply()
    estate.edit("cluster.yaml", "^cluster_name: k8s$", "cluster_name: other")

    (cluster,) = estate.desired.proxmox
    surplus_access = find_surplus_access(estate.desired, cluster, await estate.observe())

    assert surplus_access == ()


async def shared() -> Estate:
    """A Proxmox cluster in which another cluster of stockman works, with a role that has more."""
    estate = Estate("three-node")
    await estate.apply()
    estate.pve.put("/access/roles/StockmanHosts", privs="Sys.PowerMgmt", append=1)
    estate.edit("cluster.yaml", "^cluster_name: k8s$", "cluster_name: other")
    return estate


async def test_a_role_that_another_cluster_works_with_is_not_made_smaller() -> None:
    estate = await shared()

    plan = await estate.plan()

    assert [step.id for step in plan.plan.steps if "StockmanHosts" in step.id] == []


async def test_a_token_that_another_cluster_works_with_is_not_made_anew() -> None:
    estate = await shared()
    (cluster,) = estate.desired.proxmox
    place = list_desired_tokens(estate.desired, cluster, 9)[0].secret.place

    plan = await estate.plan(options=ProxmoxOptions(unkept=frozenset({place})))

    assert "proxmox.token-shared" in plan.codes
    assert [step.id for step in plan.plan.steps if step.id.startswith("access/token/")] == []
