"""Checks of time."""

import asyncio

import pytest

from stockman.assessment.doctor.check import CheckResult, CheckStatus
from stockman.assessment.doctor.clock import offset, servers
from tests.app.doctor.fakes import CLUSTER, FakeNetwork, scene, told

TWO = CLUSTER.replace("[127.66.0.3]", "[127.66.0.3, 127.66.0.33]")


def judged(network: FakeNetwork, cluster: str = CLUSTER) -> CheckResult:
    (finding,) = asyncio.run(told(offset, scene(cluster), network))
    return finding


def test_a_time_server_should_answer() -> None:
    (there,) = asyncio.run(told(servers, scene(), FakeNetwork(ntp={"127.66.0.3": 0.5})))
    (silent,) = asyncio.run(told(servers, scene(), FakeNetwork()))

    assert (there.status, there.summary) == (
        CheckStatus.OK,
        "it answers, this machine is 0.50 s behind",
    )
    assert silent.status is CheckStatus.WARN
    assert "network.ntp_servers (cluster.yaml:6:16)" in silent.fix


@pytest.mark.parametrize(
    ("ahead", "status", "seen"),
    [
        (0.01, CheckStatus.OK, "this machine is 0.01 s behind, by 1 time server"),
        (-2.0, CheckStatus.OK, "this machine is 2.00 s ahead, by 1 time server"),
        (2.5, CheckStatus.WARN, "this machine is 2.50 s behind, by 1 time server"),
        (-60.0, CheckStatus.WARN, "this machine is 60.00 s ahead, by 1 time server"),
        (300.0, CheckStatus.FAIL, "this machine is 5.0 minutes behind, by 1 time server"),
        (-9000.0, CheckStatus.FAIL, "this machine is 2.5 hours ahead, by 1 time server"),
        (8.64e7, CheckStatus.FAIL, "this machine is 1000.0 days behind, by 1 time server"),
    ],
)
def test_the_clock_is_judged_by_time_servers(ahead: float, status: CheckStatus, seen: str) -> None:
    finding = judged(FakeNetwork(ntp={"127.66.0.3": ahead}))

    assert (finding.status, finding.summary) == (status, seen)


def test_web_servers_tell_the_time_where_no_time_server_does() -> None:
    names = {"factory.test": ("127.66.0.7",), "git.test": ("127.66.0.8",)}
    web = {"factory.test:443": 3600.0, "git.test:443": 3601.0}

    finding = judged(FakeNetwork(names=names, web=web))

    assert finding.status is CheckStatus.FAIL
    assert finding.summary == "this machine is 60.0 minutes behind, by 2 web servers"


def test_time_servers_count_before_web_servers() -> None:
    names = {"factory.test": ("127.66.0.7",)}
    network = FakeNetwork(names=names, web={"factory.test:443": 3600.0}, ntp={"127.66.0.3": 0.0})

    assert judged(network).status is CheckStatus.OK


def test_time_servers_that_disagree_prove_nothing_good() -> None:
    network = FakeNetwork(ntp={"127.66.0.3": 0.0, "127.66.0.33": 7200.0})

    finding = judged(network, TWO)

    assert finding.status is CheckStatus.WARN
    assert finding.summary == "time servers disagree by 2.0 hours"


def test_a_clock_that_nobody_confirms_is_unknown() -> None:
    assert judged(FakeNetwork()).status is CheckStatus.UNKNOWN
