"""High availability, replication, networks of the cluster, certificates."""

from __future__ import annotations

import pytest

from lab.tests.pve.schema.named.judging import problem

PEM = "-----BEGIN CERTIFICATE-----\nAAAA\nBB==\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("pve-ha-resource-id-list", "vm:100,ct:200"),
        ("pve-ha-resource-or-vm-id", "100"),
        ("pve-ha-node-list", "pve1:2,pve2"),
        ("pve-replication-job-id", "100-0"),
        ("pve-day-of-week-list", "mon,sun"),
        ("pve-acme-domain-list", "meadow.example,www.meadow.example"),
        ("pve-acme-alias", "_acme.meadow.example"),
        ("pem-certificate", f"text before\n{PEM}"),
        ("pem-certificate-chain", f"{PEM}\n{PEM}"),
        ("pem-string", PEM.replace("CERTIFICATE", "PRIVATE KEY")),
        ("pve-sdn-zone-id", "zone1"),
        ("pve-sdn-subnet-id", "zone1-10.0.0.0-24"),
        ("pve-sdn-subnet-id", "10.0.0.0/24"),
        ("pve-sdn-bgp-rt-list", "65000:1,65000:2"),
        ("pve-sdn-isis-net", "49.0001.0002.0003.0004.00"),
    ],
)
def test_these_are_fit(form: str, text: str) -> None:
    assert problem(form, text) is None


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("pve-ha-resource-id", "100", "value does not look like a valid ha resource id"),
        ("pve-ha-resource-or-vm-id", "vm:", "value does not look like a valid ha resource id"),
        ("pve-ha-node-list", "pve1:x", "value does not look like a valid ha node"),
        ("pve-ha-group-node-list", "pve1:", "value does not look like a valid ha group node"),
        ("pve-replication-job-id", "100", "invalid replication job id '100'"),
        (
            "pve-replication-job-id",
            "99-0",
            "invalid replication job id '99-0' (guest IDs < 100 are reserved)",
        ),
        ("pve-day-of-week", "Mon", "invalid day 'Mon'"),
        ("pve-acme-domain", "meadow", "value 'meadow' does not look like a valid domain name!"),
        ("pve-acme-alias", "meadow", "value 'meadow' does not look like a valid alias name!"),
        ("pem-certificate", f"{PEM}{PEM}", "not a valid PEM-formatted string."),
        ("pem-certificate-chain", "key", "not a valid PEM-formatted string."),
        ("pve-sdn-zone-id", "z", "zone ID 'z' contains illegal characters"),
        ("pve-sdn-vnet-id", "a" * 9, f"vnet ID '{'a' * 9}' can't be more length than 8 characters"),
        ("pve-sdn-subnet-id", "zone1", "value does not look like a valid CIDR network"),
        ("pve-sdn-bgp-rt", "1:4294967296", "value does not look like a valid bgp route-target"),
        ("pve-sdn-isis-net", "49", "value does not look like a valid isis net"),
    ],
)
def test_these_are_refused(form: str, text: str, said: str) -> None:
    assert problem(form, text) == said
