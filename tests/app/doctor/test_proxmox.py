"""Checks of Proxmox clusters, asked through the real door of a small Proxmox VE."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from stockman.adapters.proxmox.credentials import ApiToken
from stockman.adapters.proxmox.endpoint import Endpoints
from stockman.adapters.proxmox.transport import HttpProxmox
from stockman.app.doctor import CHECKS
from stockman.assessment.doctor.check import (
    CheckResult,
    CheckStatus,
    ConfiguredToken,
    ProxmoxAccess,
)
from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.model.secret import Secret
from stockman.ports.environment import Trust
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.privileges import VmRequirements, agent_privilege, provisioning_privileges
from tests.adapters.http_proxmox.scripted import Answer, Asked, ScriptedServer, Trouble
from tests.adapters.http_proxmox.talking import CANARY, PATIENT, SimulatedClock
from tests.app.doctor.fakes import FakeNetwork, scene, told
from tests.contract.proxmox.small_pve import Guest, SmallPve

CLUSTER = """\
node_cidr: 127.66.0.0/24
node_dns_servers: [127.66.0.2]
node_ntp_servers: [127.66.0.3]
cluster_api_addr: 127.66.0.10
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
cloudflare_enabled: false
talos_version: 1.13.9
proxmox_endpoint: https://127.66.0.4:8006
proxmox_token_id: stockman@pve!stockman
proxmox_token_secret: ${PROXMOX_TOKEN}
proxmox:
  image_storage: local
repository:
  url: https://127.66.0.5/owner/meadow.git
talos:
  factory_url: https://127.66.0.6
  extensions: [siderolabs/qemu-guest-agent]
components:
  proxmox-ccm: {enabled: true}
  proxmox-csi: {enabled: true, storage: local-zfs, token_secret: "${CSI_TOKEN}"}
"""
NODES = """\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    mac_addr: bc:24:11:00:00:21
    vm: {vmid: 1021, host: pve1, datastore: local-zfs, nics: [{bridge: vmbr0}]}
"""
STOCKMAN = ConfiguredToken(owner="stockman", id="stockman@pve!stockman", secret=Secret(CANARY))
CSI = ConfiguredToken(owner="proxmox-csi", id="stockman-csi@pve!csi", secret=Secret(CANARY))
ENOUGH = frozenset().union(
    *(need.privileges for need in provisioning_privileges(9, VmRequirements())),
)

DATASTORE = [one for one in ENOUGH if one.startswith("Datastore.")]


def asked(
    name: str,
    handler: object,
    *,
    nodes: str = NODES,
    token: ConfiguredToken = STOCKMAN,
    configured_tokens: tuple[ConfiguredToken, ...] = (),
) -> list[CheckResult]:
    """What a check finds out from a server."""
    server = ScriptedServer(handler)  # type: ignore[arg-type]  # answers what it is asked
    check = next(check for check in CHECKS if check.name == name)

    def opened(token_id: str, secret: Secret) -> AbstractAsyncContextManager[ProxmoxClient]:
        trust = Trust(ca=server.identity.ca.crt.encode())
        endpoints = Endpoints(urls=(server.url,), trust=trust, timeouts=PATIENT)
        return HttpProxmox(endpoints, ApiToken(id=token_id, secret=secret), SimulatedClock())

    async def ask() -> list[CheckResult]:
        async with server.serving():
            loaded = load({"cluster.yaml": CLUSTER.encode(), "nodes.yaml": nodes.encode()})
            wanted = resolve(loaded)
            (cluster,) = wanted.proxmox
            region = ProxmoxAccess(
                cluster=cluster, open=opened, token=token, component_tokens=configured_tokens
            )
            seen = scene(CLUSTER, nodes, regions=(region,), desired=wanted)
            return await told(check, seen, FakeNetwork())

    findings = asyncio.run(ask())
    assert CANARY not in str(findings)
    return findings


def lines(findings: list[CheckResult]) -> list[tuple[CheckStatus, str]]:
    return [(finding.status, f"{finding.subject}: {finding.summary}") for finding in findings]


def mighty() -> SmallPve:
    """A Proxmox VE whose token may do everything that is needed."""
    pve = SmallPve()
    pve.privileges["/"] = set(ENOUGH)
    return pve


@pytest.mark.parametrize(
    ("release", "status"),
    [
        ("9.1.4", CheckStatus.OK),
        ("8.4.1", CheckStatus.OK),
        ("9.99.1", CheckStatus.WARN),
        ("7.4.1", CheckStatus.FAIL),
    ],
)
def test_the_version_is_judged(release: str, status: CheckStatus) -> None:
    pve = mighty()
    pve.release = release

    (finding,) = asked("proxmox.version", pve)

    assert finding.status is status
    assert finding.summary.startswith(f"Proxmox VE {release}")


def test_a_version_that_cannot_be_read_is_unknown() -> None:
    def odd(_: Asked) -> Answer:
        return Answer({"version": "next", "release": "next"})

    assert [text.status for text in asked("proxmox.version", odd)] == [CheckStatus.UNKNOWN]


def test_hosts_that_machines_run_on_are_up() -> None:
    assert lines(asked("proxmox.hosts", mighty())) == [(CheckStatus.OK, "host pve1: it is online")]


def test_a_cluster_without_quorum_and_a_host_that_is_off_are_told() -> None:
    pve = mighty()
    pve.quorate = False
    pve.offline.add("pve1")

    assert lines(asked("proxmox.hosts", pve)) == [
        (CheckStatus.FAIL, "region pve: the cluster has no quorum"),
        (CheckStatus.WARN, "host pve1: it is offline"),
    ]


def test_a_host_that_there_is_not_is_told_with_those_that_there_are() -> None:
    (finding,) = asked("proxmox.hosts", mighty(), nodes=NODES.replace("pve1", "pve9"))

    assert finding.status is CheckStatus.FAIL
    assert finding.fix == "use an existing host: pve1, pve2"


def test_storages_are_there_for_what_is_put_into_them() -> None:
    assert lines(asked("proxmox.storages", mighty())) == [
        (CheckStatus.OK, "storage local on pve1: 99 GiB free, for import"),
        (CheckStatus.OK, "storage local-zfs on pve1: 99 GiB free, for images"),
    ]


@pytest.mark.parametrize(
    ("storage", "seen"),
    [("tank", "it does not exist, or the token cannot see it"), ("local", "not for images")],
)
def test_a_storage_that_does_not_fit_is_told(storage: str, seen: str) -> None:
    nodes = NODES.replace("local-zfs", storage)

    findings = asked("proxmox.storages", mighty(), nodes=nodes)

    failed = [finding for finding in findings if finding.status is CheckStatus.FAIL]
    assert [result.subject for result in failed] == [f"storage {storage} on pve1"]
    assert seen in failed[0].summary


def test_bridges_are_there() -> None:
    assert lines(asked("proxmox.bridges", mighty())) == [
        (CheckStatus.OK, "bridge vmbr0 on pve1: it is up")
    ]


def test_a_bridge_that_there_is_not_is_told_with_those_that_there_are() -> None:
    pve = mighty()
    pve.bridges["pve1"] = ["vmbr1"]

    (finding,) = asked("proxmox.bridges", pve)

    assert finding.status is CheckStatus.FAIL
    assert finding.fix.endswith("use an existing one: vmbr1")


def test_a_vnet_is_a_bridge_too() -> None:
    pve = mighty()
    pve.bridges["pve1"] = []
    pve.vnets = ["vmbr0"]

    assert lines(asked("proxmox.bridges", pve)) == [
        (CheckStatus.OK, "bridge vmbr0 on pve1: it is a VNet")
    ]


def test_nothing_replicated_is_nothing_to_check() -> None:
    assert [text.status for text in asked("proxmox.replication", mighty())] == [CheckStatus.SKIP]


@pytest.mark.parametrize(("failures", "status"), [(0, CheckStatus.OK), (3, CheckStatus.WARN)])
def test_replication_that_fails_is_told(failures: int, status: CheckStatus) -> None:
    pve = mighty()
    pve.guests[1021] = Guest(host="pve1", kind="qemu", config={"name": "cp-1"})
    pve.replication["1021-0"] = {"guest": 1021, "target": "pve2", "fail_count": failures}

    assert [text.status for text in asked("proxmox.replication", pve)] == [status]


@pytest.mark.parametrize(
    ("off", "status"),
    [(0, CheckStatus.OK), (-4, CheckStatus.OK), (20, CheckStatus.WARN), (-90, CheckStatus.FAIL)],
)
def test_clocks_of_hosts_are_compared_with_ours(off: int, status: CheckStatus) -> None:
    pve = mighty()
    pve.time += off
    pve.offline.add("pve2")

    (finding,) = asked("proxmox.clock", pve)

    assert (finding.subject, finding.status) == ("clock of pve1", status)


def test_a_token_with_all_privileges_is_well() -> None:
    (finding,) = asked("proxmox.rights", mighty())

    assert finding.status is CheckStatus.OK


def test_privileges_that_are_missing_are_named_with_their_paths() -> None:
    pve = mighty()
    pve.privileges["/vms"] = set(ENOUGH) - {"VM.Clone", "VM.Config.Disk"}
    pve.privileges["/storage"] = set()

    assert [text.summary for text in asked("proxmox.rights", pve)] == [
        "it lacks VM.Clone, VM.Config.Disk on /vms",
        f"it lacks {', '.join(sorted(DATASTORE))} on /storage",
    ]


def test_rights_on_just_what_is_used_are_enough() -> None:
    pve = mighty()
    pve.privileges["/storage"] = set()
    pve.privileges["/storage/local"] = set(ENOUGH)
    pve.privileges["/storage/local-zfs"] = set(ENOUGH)

    assert [text.status for text in asked("proxmox.rights", pve)] == [CheckStatus.OK]


def test_the_agent_needs_another_privilege_before_9() -> None:
    pve = mighty()
    pve.release = "8.4.1"

    (finding,) = asked("proxmox.rights", pve)

    assert finding.summary == f"it lacks {agent_privilege(8)} on /vms"


def test_the_token_of_a_component_is_judged_by_what_the_component_needs() -> None:
    pve = mighty()
    pve.privileges["/storage"] = {"Datastore.Audit", "Datastore.AllocateSpace"}

    findings = asked("proxmox.component-rights", pve, configured_tokens=(CSI,))

    assert lines(findings) == [
        (CheckStatus.FAIL, "stockman-csi@pve!csi: it lacks Datastore.Allocate on /storage")
    ]


ASKING = [check.name for check in CHECKS if check.name.startswith("proxmox.")][:-1]


@pytest.mark.parametrize("name", ASKING)
def test_a_token_that_is_not_known_fails(name: str) -> None:
    def unknown(_: Asked) -> Answer:
        return Answer(status=401, reason="Authentication failed!", raw=b"")

    (finding,) = asked(name, unknown)

    assert finding.status is CheckStatus.FAIL
    assert "401 Authentication failed!" in finding.summary


@pytest.mark.parametrize("name", ASKING)
def test_a_server_that_says_nothing_is_left_to_the_check_that_reaches_for_it(name: str) -> None:
    (finding,) = asked(name, lambda _: Trouble.CUT)

    assert finding.status is CheckStatus.SKIP
    assert "see `reach.proxmox`" in finding.summary


@pytest.mark.parametrize("name", ASKING)
def test_what_the_token_may_not_read_is_unknown_and_never_well(name: str) -> None:
    def denied(_: Asked) -> Answer:
        return Answer(status=403, reason="Permission check failed (/, Sys.Audit)")

    findings = asked(name, denied)

    assert {finding.status for finding in findings} == {CheckStatus.UNKNOWN}
    assert all("Sys.Audit" in finding.fix for finding in findings)


@pytest.mark.parametrize("name", ASKING)
def test_a_token_that_is_not_at_hand_is_not_sent(name: str) -> None:
    absent = ConfiguredToken(owner="stockman", id="a@pve!b", secret=None, reason="$X is not set")
    heard: list[Asked] = []

    def hear(request: Asked) -> Answer:
        heard.append(request)
        return Answer()

    (finding,) = asked(name, hear, token=absent)

    assert (finding.status, heard) == (CheckStatus.SKIP, [])
    assert "$X is not set" in finding.summary


@pytest.mark.parametrize("name", ASKING)
def test_without_a_token_nothing_is_asked(name: str) -> None:
    check = next(check for check in CHECKS if check.name == name)

    assert list(check.look(scene())) == []
