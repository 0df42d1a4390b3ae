"""Versions of etcd, and what they start on."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.cluster import etcd_version, minor_of, refusal_to_start

from stockman.etcd.buckets import DatabaseMetadata


@pytest.mark.parametrize(
    ("storage", "cluster", "server", "refusal"),
    [
        ("", "", "3.6.5", ""),
        ("", "3.5.0", "3.7.1", ""),
        ("3.6.0", "3.6.0", "3.6.5", ""),
        ("3.6.0", "3.6.0", "3.7.1", ""),
        ("3.7.0", "3.7.0", "3.6.12", 'version "3.7.0" is not supported'),
        (
            "",
            "3.10.0",
            "3.7.1",
            "invalid downgrade; server version is lower than determined cluster version",
        ),
        ("sheep", "", "3.6.5", ""),
    ],
)
def test_newer_data_is_refused(storage: str, cluster: str, server: str, refusal: str) -> None:
    beside = DatabaseMetadata(storage_version=storage, cluster_version=cluster)

    assert refusal_to_start(beside, server) == refusal


def test_every_talos_has_its_etcd() -> None:
    minors = [minor_of(etcd_version(minor)) for minor in ("1.11", "1.12", "1.13", "1.14")]

    assert minors == ["3.6.0", "3.6.0", "3.6.0", "3.7.0"]
