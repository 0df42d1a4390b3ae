"""Checks of names and name servers."""

import asyncio

from stockman.assessment.doctor.check import CheckStatus
from stockman.assessment.doctor.reach import host_names, lookups
from tests.app.doctor.fakes import CLUSTER, FakeMachine, FakeNetwork, found, scene, told


def test_every_name_is_looked_up_once() -> None:
    network = FakeNetwork(names={"factory.test": ("127.66.0.7", "127.66.0.8")})

    findings = asyncio.run(told(host_names, scene(), network))

    assert [(finding.subject, finding.status, finding.summary) for finding in findings] == [
        ("factory.test", CheckStatus.OK, "127.66.0.7, 127.66.0.8"),
        ("git.test", CheckStatus.FAIL, "name or service not known"),
    ]


def test_a_name_that_only_nodes_need_is_a_warning() -> None:
    cluster = CLUSTER.replace("[127.66.0.3]", "[time.test]")

    findings = asyncio.run(told(host_names, scene(cluster), FakeNetwork()))

    assert {finding.subject: finding.status for finding in findings}[
        "time.test"
    ] is CheckStatus.WARN


def test_behind_a_proxy_names_need_no_address() -> None:
    machine = FakeMachine(variables={"HTTPS_PROXY": "http://127.66.0.99:3128"})

    findings = asyncio.run(told(host_names, scene(machine=machine), FakeNetwork()))

    assert {finding.status for finding in findings} == {CheckStatus.WARN}


def test_servers_are_unknown_where_the_files_cannot_be_read() -> None:
    (finding,) = found(host_names, scene(complete=False))

    assert finding.status is CheckStatus.UNKNOWN


def test_a_name_server_should_answer() -> None:
    (there,) = asyncio.run(told(lookups, scene(), FakeNetwork(name_servers=["127.66.0.2"])))
    (silent,) = asyncio.run(told(lookups, scene(), FakeNetwork()))

    assert there.status is CheckStatus.OK
    assert silent.status is CheckStatus.WARN
    assert "network.dns_servers (cluster.yaml:5:16)" in silent.fix
