"""Running the checks."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from stockman.adapters.network import SocketNetwork
from stockman.app.doctor import (
    CHECKS,
    TIMEOUT,
    build_check_input,
    diagnose,
    report_offline,
    run_local_checks,
    run_network_checks,
)
from stockman.assessment.doctor.check import (
    Check,
    CheckInput,
    CheckResult,
    CheckStatus,
    Question,
    ok,
)
from stockman.model.errors import NotFound
from stockman.ports.environment import Network
from tests.adapters import loopback
from tests.app.doctor.fakes import CLUSTER, NODES, FakeNetwork, scene


def answers(*findings: CheckResult) -> Question:
    async def ask(network: Network) -> tuple[CheckResult, ...]:
        return findings

    return Question(subject="a server", ask=ask)


def hangs() -> Question:
    async def ask(network: Network) -> tuple[CheckResult, ...]:
        await asyncio.Event().wait()
        return ()

    return Question(subject="a server", ask=ask)


def check(name: str, *yielded: CheckResult | Question) -> Check:
    def look(scene: CheckInput) -> Iterator[CheckResult | Question]:
        yield from yielded

    return Check(name=name, about="All is well.", look=look)


def test_findings_stay_in_the_order_of_the_checks() -> None:
    seen = run_local_checks(
        scene(),
        [
            check("a.x", answers(ok("2", ""), ok("3", "")), ok("4", "")),
            check("a.y", ok("5", "")),
        ],
    )

    report = asyncio.run(run_network_checks(seen, FakeNetwork()))

    assert [(finding.check, finding.subject) for finding in report.findings] == [
        ("a.x", "2"),
        ("a.x", "3"),
        ("a.x", "4"),
        ("a.y", "5"),
    ]


def test_a_question_that_hangs_is_unknown_and_holds_up_no_other() -> None:
    seen = run_local_checks(
        scene(), [check("a.x", hangs(), hangs()), check("a.y", answers(ok("b", "")))]
    )

    report = asyncio.run(run_network_checks(seen, FakeNetwork(), patience=0.05))

    assert [finding.status for finding in report.findings] == [
        CheckStatus.UNKNOWN,
        CheckStatus.UNKNOWN,
        CheckStatus.OK,
    ]
    assert report.findings[0].summary == "no answer within 0.05 s"


def test_the_patience_for_everything_is_below_six_seconds() -> None:
    assert TIMEOUT < 6


def test_offline_every_check_with_questions_is_skipped_in_one_line() -> None:
    seen = run_local_checks(
        scene(), [check("a.x", hangs(), ok("b", ""), hangs()), check("a.y", ok("c", ""))]
    )

    report = report_offline(seen)

    assert [(finding.check, finding.subject, finding.status) for finding in report.findings] == [
        ("a.x", "b", CheckStatus.OK),
        ("a.x", "a server, a server", CheckStatus.SKIP),
        ("a.y", "c", CheckStatus.OK),
    ]


def test_with_nothing_reachable_every_question_ends_and_none_is_well() -> None:
    seen = run_local_checks(scene(), CHECKS)

    report = asyncio.run(run_network_checks(seen, FakeNetwork()))

    findings = [finding for finding in report.findings if finding.check.startswith("reach.")]
    assert findings
    assert CheckStatus.OK not in {finding.status for finding in findings}


def test_real_servers_that_hang_or_are_closed_are_given_up() -> None:
    with loopback.hanging("127.66.0.44") as port:
        cluster = CLUSTER.replace("https://factory.test", f"https://127.66.0.44:{port}").replace(
            "git.test", "127.66.0.45:9"
        )
        seen = run_local_checks(scene(cluster), CHECKS)
        report = asyncio.run(run_network_checks(seen, SocketNetwork(patience=0.1)))

    by_name = {finding.check: (finding.status, finding.summary) for finding in report.findings}
    assert by_name["reach.factory"] == (CheckStatus.FAIL, "no response within 0.1 s")
    assert by_name["reach.git"] == (CheckStatus.FAIL, "connection refused")
    assert by_name["machine.clock"][0] is CheckStatus.UNKNOWN


def test_the_scene_is_made_of_the_files_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "nodes.yaml").write_text(NODES)

    seen = build_check_input(tmp_path)

    assert seen.files == ("cluster.yaml", "nodes.yaml")
    assert seen.complete
    assert [str(node.name) for node in seen.estate.nodes] == ["cp-1"]


def test_a_file_that_cannot_be_read_is_a_failure_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").mkdir()
    (tmp_path / "nodes.yaml").write_text(NODES)

    report = diagnose(tmp_path, offline=True)

    statuses = {(finding.check, finding.subject): finding.status for finding in report.findings}
    assert statuses["config.files", "cluster.yaml"] is CheckStatus.FAIL
    assert statuses["config.valid", "configuration"] is CheckStatus.FAIL
    assert statuses["reach.names", "servers"] is CheckStatus.UNKNOWN


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        diagnose(tmp_path / "missing", offline=True)
