"""The version of a server."""

from __future__ import annotations

from stockman_lab.kube.discovery.version import version_info


def test_a_server_tells_its_version_and_what_it_can_pretend_to_be() -> None:
    found = version_info("v1.36.3")

    assert (found["major"], found["minor"], found["gitVersion"]) == ("1", "36", "v1.36.3")
    assert found["minCompatibilityMinor"] == "35"


def test_older_servers_pretend_nothing() -> None:
    assert "emulationMinor" not in version_info("v1.33.1")


def test_versions_are_told_apart_by_their_commits() -> None:
    assert version_info("v1.36.2")["gitCommit"] != version_info("v1.36.3")["gitCommit"]
