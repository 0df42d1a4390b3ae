"""What holds for access rights, pools, mappings and high availability through any door."""

import pytest

from stockman.model.errors import Conflict, NotFound
from stockman.model.names import HostName, Vmid
from stockman.proxmox.access import AccessRole, AccessRule, AccessToken, NewToken, User
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.ha import HaResource, HaRule
from stockman.proxmox.pools import DeviceMapping, Pool
from stockman.proxmox.vms import GuestRef
from tests.contract.proxmox.doors import Backend

ROLE = AccessRole(name="StockmanCSI", privileges=frozenset({"VM.Audit", "VM.Config.Disk"}))
USER = User(id="stockman-csi@pve")
RULE = AccessRule(path="/vms", role=ROLE.name, kind="user", holder=USER.id)
AT = GuestRef(host=HostName("pve1"), vmid=Vmid(1021))


async def with_vm(pve: ProxmoxClient) -> None:
    await pve.wait_task(await pve.create_vm(AT, {"name": "cp-1"}))


def test_a_role_that_was_made_has_its_privileges(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> list[AccessRole]:
        await pve.create_role(ROLE)
        return [role for role in await pve.roles() if role.name == ROLE.name]

    assert backend(story) == [ROLE]


def test_a_role_that_is_there_is_a_conflict(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await pve.create_role(ROLE)
        await pve.create_role(ROLE)

    with pytest.raises(Conflict):
        backend(story)


def test_a_role_that_is_not_there_cannot_be_deleted(backend: Backend) -> None:
    with pytest.raises(NotFound):
        backend(lambda pve: pve.delete_role("Nobody"))


def test_a_token_tells_its_secret_once(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> tuple[NewToken, tuple[AccessToken, ...]]:
        await pve.create_user(USER)
        token = await pve.create_token(USER.id, AccessToken(name="csi"))
        return token, await pve.tokens(USER.id)

    expected, listed = backend(story)

    assert expected.id == "stockman-csi@pve!csi"
    assert len(expected.secret.reveal()) == 36
    assert expected.secret.reveal() not in repr(expected)
    assert [(item.name, item.privilege_separation) for item in listed] == [("csi", True)]


def test_a_token_that_is_there_is_a_conflict(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await pve.create_user(USER)
        await pve.create_token(USER.id, AccessToken(name="csi"))
        await pve.create_token(USER.id, AccessToken(name="csi"))

    with pytest.raises(Conflict):
        backend(story)


def test_a_right_is_given_twice_and_taken_once(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> tuple[list[AccessRule], list[AccessRule]]:
        await pve.create_user(USER)
        await pve.create_role(ROLE)
        await pve.grant(RULE)
        await pve.grant(RULE)
        access_rules = [
            access_rule for access_rule in await pve.access_rules() if access_rule.holder == USER.id
        ]
        await pve.revoke(RULE)
        return access_rules, [
            access_rule for access_rule in await pve.access_rules() if access_rule.holder == USER.id
        ]

    assert backend(story) == ([RULE], [])


def test_a_pool_has_the_guests_that_were_put_into_it(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> tuple[Pool, Pool]:
        await with_vm(pve)
        await pve.create_pool("meadow")
        empty = await pve.pool("meadow")
        await pve.add_to_pool("meadow", vms=(1021,))
        return empty, await pve.pool("meadow")

    empty, full = backend(story)

    assert empty.members == ()
    assert [member.id for member in full.members] == ["qemu/1021"]


def test_a_pool_that_is_not_there_is_not_found(backend: Backend) -> None:
    with pytest.raises(NotFound):
        backend(lambda pve: pve.pool("meadow"))


def test_a_mapping_keeps_every_entry(backend: Backend) -> None:
    entries = tuple(
        f"id=10de:2204,iommugroup=15,node={host},path=0000:01:00.0" for host in ("pve1", "pve2")
    )

    async def story(pve: ProxmoxClient) -> tuple[DeviceMapping, ...]:
        await pve.create_mapping(DeviceMapping(name="gpu", kind="pci", entries=entries))
        return await pve.mappings("pci")

    assert [(item.name, set(item.entries)) for item in backend(story)] == [("gpu", set(entries))]


def test_a_guest_is_looked_after_until_it_is_not(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> list[list[str]]:
        await with_vm(pve)
        await pve.add_ha_resource(HaResource(id="vm:1021", max_restart=3))
        before = [ha_resource.id for ha_resource in await pve.ha_resources()]
        await pve.remove_ha_resource("vm:1021")
        return [before, [ha_resource.id for ha_resource in await pve.ha_resources()]]

    assert backend(story) == [["vm:1021"], []]


def test_a_guest_that_is_looked_after_already_is_a_conflict(backend: Backend) -> None:
    async def story(pve: ProxmoxClient) -> None:
        await with_vm(pve)
        await pve.add_ha_resource(HaResource(id="vm:1021"))
        await pve.add_ha_resource(HaResource(id="vm:1021"))

    with pytest.raises(Conflict):
        backend(story)


def test_a_guest_that_is_not_looked_after_is_not_found(backend: Backend) -> None:
    with pytest.raises(NotFound):
        backend(lambda pve: pve.remove_ha_resource("vm:1021"))


def test_a_rule_keeps_hosts_and_their_priorities(backend: Backend) -> None:
    rule = HaRule(
        name="near",
        kind="node-affinity",
        resources=("vm:1021",),
        hosts={"pve1": 2, "pve2": None},
        strict=True,
    )

    async def story(pve: ProxmoxClient) -> tuple[HaRule, ...]:
        await with_vm(pve)
        await pve.add_ha_resource(HaResource(id="vm:1021"))
        await pve.create_ha_rule(rule)
        return await pve.ha_rules()

    assert backend(story) == (rule,)


def test_groups_that_became_rules_are_none(backend: Backend) -> None:
    assert backend(lambda pve: pve.ha_groups()) == ()
