"""New tokens for old ones: the old one works until the new one does."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from stockman_lab.pve.access.identity import Caller

from stockman.model.errors import Denied, Refused
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.planning.access.rotation import plan_rotation
from stockman.planning.change import unique_steps
from stockman.planning.desired import ProxmoxOptions
from stockman.proxmox.access import Privileges
from stockman.steps.access.tokens import DeleteToken, RenewToken
from stockman.steps.step import Step
from tests.planning.estate import Estate, Killed, died_at_every_call, perform

OWN = "${PROXMOX_TOKEN_SECRET}"
CSI = "token:pve/stockman-csi@pve!csi"


@pytest.fixture
def estate() -> Estate:
    """Three machines, and a component with a token of its own."""
    estate = Estate("three-node")
    estate.texts["cluster.yaml"] += (
        "\ncomponents:\n  proxmox-csi: {enabled: true, storage: ceph-vm-disks}\n"
    )
    return estate


async def planned(estate: Estate, *names: str) -> tuple[Step, ...]:
    problems = Problems()
    seen = {estate.region: await estate.observe()}
    rotation = plan_rotation(estate.desired, seen, names, problems, in_cluster=False)
    assert list(problems) == []
    return unique_steps(rotation)


def tokens(estate: Estate, user: str) -> list[str]:
    access = next(iter(estate.world.clusters.values())).state.access
    return sorted(access.users[user].tokens)


async def test_every_token_gets_a_follower_and_the_old_ones_go(estate: Estate) -> None:
    await estate.apply()
    before = dict(estate.secrets.kept)

    for step in await planned(estate):
        assert await perform(step.action, estate.ports())

    assert tokens(estate, "stockman@pve") == ["stockman-2"]
    assert tokens(estate, "stockman-csi@pve") == ["csi-2"]
    assert estate.secrets.kept[OWN].startswith("stockman@pve!stockman-2=")
    assert estate.secrets.kept[CSI].startswith("stockman-csi@pve!csi-2=")
    assert before[CSI] not in estate.secrets.kept[CSI]


async def test_afterwards_access_is_as_it_should_be_and_can_be_rotated_again(
    estate: Estate,
) -> None:
    await estate.apply()
    for step in await planned(estate):
        await perform(step.action, estate.ports())
    after = await estate.plan()

    for step in await planned(estate, "stockman"):
        await perform(step.action, estate.ports())

    assert after.changes == ()
    assert tokens(estate, "stockman@pve") == ["stockman-3"]
    assert tokens(estate, "stockman-csi@pve") == ["csi-2"]
    assert (await estate.plan()).changes == ()


async def test_the_new_token_of_stockman_can_do_what_the_old_one_could(estate: Estate) -> None:
    await estate.apply()
    for step in await planned(estate, "stockman"):
        await perform(step.action, estate.ports())
    estate.token = Caller("stockman@pve", "stockman-2")
    estate.edit("nodes.yaml", "memory: 16384", "memory: 12288")

    outcome = await estate.apply(administrator=False)

    assert outcome.plan.steps
    assert (await estate.plan(administrator=False)).codes == []


async def test_the_old_token_works_until_the_new_one_is_kept(estate: Estate) -> None:
    await estate.apply()
    renew, _drop = await planned(estate, "proxmox-csi")
    seen: list[list[str]] = []
    for call in range(1, 30):
        estate.trigger.left, estate.trigger.after = call, True
        try:
            await perform(renew.action, estate.ports())
        except Killed:
            seen.append(tokens(estate, "stockman-csi@pve"))
    estate.trigger.left = -1

    assert len(seen) > 5
    assert all("csi" in one for one in seen)
    assert await renew.action.done(estate.ports())


async def test_whoever_dies_anywhere_finishes_when_started_again(estate: Estate) -> None:
    await estate.apply()

    deaths = await died_at_every_call(estate, await planned(estate), after=None)

    assert deaths > 10
    assert tokens(estate, "stockman@pve") == ["stockman-2"]
    assert tokens(estate, "stockman-csi@pve") == ["csi-2"]
    assert (await estate.plan()).changes == ()


async def test_a_rotation_that_was_left_in_the_middle_is_followed_by_a_whole_one(
    estate: Estate,
) -> None:
    await estate.apply()
    renew = (await planned(estate, "stockman"))[0]
    await perform(renew.action, estate.ports())

    for step in await planned(estate, "stockman"):
        await perform(step.action, estate.ports())

    assert tokens(estate, "stockman@pve") == ["stockman-3"]


class Nobody:
    """Proxmox VE that takes no token."""

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        raise Denied(Problem(code="test", what="no", why="no such token", fix=""))


class Weak:
    """Proxmox VE that gives tokens nothing."""

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        return dict.fromkeys(paths, frozenset())


@pytest.mark.parametrize("trial", [Nobody(), Weak()], ids=["unknown", "weak"])
async def test_a_token_that_does_not_do_is_not_kept(estate: Estate, trial: Nobody | Weak) -> None:
    await estate.apply()
    before = dict(estate.secrets.kept)
    renew = (await planned(estate, "stockman"))[0]

    with pytest.raises(Refused, match=r"token\.unproven"):
        await perform(renew.action, replace(estate.ports(), trial=trial))

    assert estate.secrets.kept == before
    assert "stockman" in tokens(estate, "stockman@pve")


async def test_a_token_that_is_kept_is_never_dropped(estate: Estate) -> None:
    await estate.apply()
    _renew, drop = await planned(estate, "stockman")

    with pytest.raises(Refused, match=r"token\.still-kept"):
        await perform(drop.action, estate.ports())

    assert tokens(estate, "stockman@pve") == ["stockman"]


async def test_tokens_that_somebody_else_made_for_the_user_stay(estate: Estate) -> None:
    await estate.apply()
    estate.pve.post("/access/users/stockman@pve/token/stockman-2", comment="of the CI")

    for step in await planned(estate, "stockman"):
        await perform(step.action, estate.ports())

    assert tokens(estate, "stockman@pve") == ["stockman-2", "stockman-3"]
    assert (await estate.plan()).changes == ()


async def test_without_an_administrator_nothing_is_rotated_and_it_is_said(estate: Estate) -> None:
    await estate.apply()
    problems = Problems()
    seen = {estate.region: await estate.observe(administrator=False)}

    rotation = plan_rotation(estate.desired, seen, (), problems)

    assert rotation == ()
    assert [problem.code for problem in problems] == ["proxmox.no-administrator"]


async def test_a_name_that_nobody_has_is_told_with_those_there_are(estate: Estate) -> None:
    await estate.apply()
    problems = Problems()
    seen = {estate.region: await estate.observe()}

    plan_rotation(estate.desired, seen, ("ccm",), problems)

    (only,) = problems
    assert only.code == "token.unknown"
    assert "proxmox-csi" in only.why


async def test_no_secret_is_in_the_plan(estate: Estate) -> None:
    await estate.apply()
    secrets = set(estate.secrets.kept.values())

    steps = await planned(estate)

    assert {type(step.action) for step in steps} == {RenewToken, DeleteToken}
    assert not [secret for secret in secrets if secret in str(steps)]


async def test_components_keep_their_old_token_until_their_pods_began_anew(
    estate: Estate,
) -> None:
    await estate.apply()
    problems = Problems()
    seen = {estate.region: await estate.observe()}
    steps = unique_steps(plan_rotation(estate.desired, seen, ("proxmox-csi",), problems))

    restart, drop = steps[1:]
    (here,), (gate,) = restart.gates, drop.gates

    assert restart.action.summary == (
        "restart pods in csi-proxmox that began before Secret proxmox-csi-config"
    )
    assert here.summary == (
        "Secret csi-proxmox/proxmox-csi-config has token stockman-csi@pve!csi-2"
    )
    assert restart.id in drop.needs
    assert gate.summary == (
        "pods in csi-proxmox with Secret proxmox-csi-config use token stockman-csi@pve!csi-2"
    )
    assert steps[1].needs == (steps[0].id,)


async def test_a_renewed_token_whose_secret_was_lost_is_made_anew_under_its_name(
    estate: Estate,
) -> None:
    await estate.apply()
    for step in await planned(estate, "stockman"):
        await perform(step.action, estate.ports())
    before = estate.secrets.kept.pop(OWN)

    await estate.apply(options=ProxmoxOptions(unkept=frozenset({OWN})))

    assert tokens(estate, "stockman@pve") == ["stockman-2"]
    assert estate.secrets.kept[OWN].startswith("stockman@pve!stockman-2=")
    assert estate.secrets.kept[OWN] != before
    assert (await estate.plan()).changes == ()
