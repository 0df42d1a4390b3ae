"""Smoke tests that a user runs: all results, and no record of them in the cluster."""

from __future__ import annotations

import asyncio

from lab.tests.kube.helm.installing import Installing
from stockman.app.status.smoke_tests import try_components
from tests.catalog.test_smoke_tests import SMOKE_TESTS, commands_fail
from tests.steps.kube_cluster import ports_of
from tests.steps.test_kube_flux import RESULTS

TESTS = [SMOKE_TESTS["coredns"], SMOKE_TESTS["k8s-gateway"]]


def test_a_smoke_test_that_fails_stops_no_other() -> None:
    cluster = Installing("n1")

    dns, gateway = asyncio.run(try_components(TESTS, ports_of(cluster)))

    assert (dns.component, dns.problem) == ("coredns", None)
    assert gateway.problem is not None
    assert gateway.problem.code == "kube.smoke-test-failed"
    assert "it does not exist yet" in gateway.problem.why


def test_results_are_not_recorded() -> None:
    cluster = Installing("n1")
    commands_fail(cluster)

    asyncio.run(try_components(TESTS[:1], ports_of(cluster)))

    assert cluster.ask("GET", RESULTS)["reason"] == "NotFound"
