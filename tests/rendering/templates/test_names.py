"""Templates see the keys of the files, and what cluster-template adds to them."""

from pathlib import Path

import pytest

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.model.secret import Secret
from stockman.rendering.templates.names import (
    SecretValue,
    TemplateNames,
    environment_names,
    template_names,
)
from tests.rendering.templates.trees import HERE, plain, rendering_of

CLASSIC = HERE / "tree" / "classic"
TOML = HERE / "tree" / "toml"
TOKEN = "a-token-that-is-no-token"
SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"


def names(
    directory: Path, resolved: dict[Secret, Secret] | None = None, token: str = TOKEN
) -> TemplateNames:
    files = [directory / name for name in ("cluster.yaml", "nodes.yaml", "cluster.toml")]
    loaded = load(
        {
            file.name: file.read_text().replace(TOKEN, token).encode()
            for file in files
            if file.exists()
        }
    )
    return template_names(loaded, resolve(loaded), resolved)


def test_classic_templates_see_flat_keys_and_defaults() -> None:
    result = plain(names(CLASSIC).values)

    assert isinstance(result, dict)
    assert result.pop("nodes")[1] == {
        "name": "elm",
        "address": "127.66.0.101",
        "controller": True,
        "disk": "/dev/sda",
        "mac_addr": "bc:24:11:00:00:01",
        "schematic_id": SCHEMATIC,
    }
    versions = {name: result.pop(name) for name in ("talos_version", "kubernetes_version")}
    assert all(versions.values())
    assert result == {
        "node_cidr": "127.66.0.0/24",
        "node_vlan_tag": "66",
        "cluster_api_addr": "127.66.0.10",
        "cluster_api_tls_sans": ["api.meadow.example"],
        "cluster_dns_gateway_addr": "127.66.0.11",
        "cluster_gateway_addr": "127.66.0.12",
        "cloudflare_gateway_addr": "127.66.0.13",
        "repository_name": "meadow/fields",
        "cloudflare_domain": "meadow.example",
        "cloudflare_token": TOKEN,
        "cluster_name": "kubernetes",
        "node_default_gateway": "127.66.0.1",
        "node_dns_servers": ["1.1.1.1", "1.0.0.1"],
        "node_ntp_servers": ["162.159.200.1", "162.159.200.123"],
        "cluster_pod_cidr": "10.42.0.0/16",
        "cluster_svc_cidr": "10.43.0.0/16",
        "repository_branch": "main",
        "repository_visibility": "public",
        "cilium_loadbalancer_mode": "dsr",
        "cilium_bgp_enabled": False,
        "spegel_enabled": True,
    }


def test_toml_templates_see_every_key_of_a_section() -> None:
    result = plain(names(TOML).values)

    assert isinstance(result, dict)
    hosts = result["repository"].pop("known_hosts").split("\n")
    assert [line.split()[0] for line in hosts] == [
        *["github.com"] * 3,
        *["gitlab.com"] * 3,
        *["codeberg.org"] * 3,
        "git.meadow.example",
    ]
    assert result == {
        "network": {
            "node_cidr": "127.66.0.0/24",
            "dns_servers": ["1.1.1.1", "1.0.0.1"],
            "ntp_servers": ["162.159.200.1", "162.159.200.123"],
            "default_gateway": "127.66.0.1",
            "vlan_tag": None,
        },
        "kubernetes": {
            "pod_cidr": "10.42.0.0/16",
            "svc_cidr": "10.43.0.0/16",
            "coredns_addr": "10.43.0.10",
            "api": {"addr": "127.66.0.10", "tls_sans": None},
        },
        "gateways": {"internal": "127.66.0.12", "dns": "127.66.0.11", "external": "127.66.0.13"},
        "repository": {
            "url": "ssh://git@git.meadow.example/meadow/fields.git",
            "branch": "main",
            "webhook_provider": "github",
        },
        "domain": {"name": "meadow.example"},
        "dns": {"provider": "cloudflare", "token": TOKEN},
        "ingress": {"mode": "cloudflare-tunnel"},
        "cilium": {
            "loadbalancer_mode": "dsr",
            "bgp": {"router_addr": "", "router_asn": "", "node_asn": ""},
        },
        "talos": {"schematic_id": SCHEMATIC},
        "spegel": {"enabled": True},
        "nodes": [
            {
                "name": name,
                "address": address,
                "controller": name == "oak",
                "disk": disk,
                "mac_addr": mac,
                "schematic_id": SCHEMATIC,
                "mtu": mtu,
                "secureboot": False,
                "encrypt_disk": False,
                "kernel_modules": [],
            }
            for name, address, disk, mac, mtu in (
                ("oak", "127.66.0.100", "/dev/sda", "bc:24:11:00:00:00", 1500),
                ("fern", "127.66.0.101", "/dev/vda", "bc:24:11:00:00:01", 9000),
            )
        ],
        "cilium_bgp_enabled": False,
        "controller_count": 1,
        "cluster_issuer": "letsencrypt-production",
        "cert_sans": ["127.0.0.1", "127.66.0.10"],
    }


def test_secrets_are_known_by_the_type_of_their_key() -> None:
    assert list(names(CLASSIC).secrets) == ["cloudflare_token"]
    assert list(names(TOML).secrets) == ["dns.token"]


def test_a_reference_to_a_secret_has_no_value_until_it_is_resolved() -> None:
    reference = Secret("${MEADOW_TOKEN}")

    without = names(CLASSIC, token=reference.reveal())
    with_value = names(CLASSIC, {reference: Secret("result")}, token=reference.reveal())

    assert without.values["cloudflare_token"] == SecretValue(name="cloudflare_token", value=None)
    assert with_value.secrets == {"cloudflare_token": Secret("result")}


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("CF_API_TOKEN", True),
        ("SOPS_AGE_KEY", True),
        ("DB_PASSWORD", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("HOME", False),
        ("KEYBOARD", False),
    ],
)
def test_variables_that_sound_secret_are_secrets(name: str, secret: bool) -> None:
    variable = f"STOCKMAN_TEMPLATE_{name}"

    assert (f"env.{variable}" in environment_names({variable: "value"}).secrets) is secret


def test_templates_see_only_variables_that_are_meant_for_them() -> None:
    variables = {"STOCKMAN_TEMPLATE_SITE": "meadow", "PROXMOX_VE_API_TOKEN": "x", "HOME": "/root"}

    assert environment_names(variables).values == {"STOCKMAN_TEMPLATE_SITE": "meadow"}


def test_a_template_that_reads_another_variable_is_stopped() -> None:
    (problem,) = rendering_of({"a.yaml.j2": "#{ env.LANG }#"}).problems

    assert problem.code == "template.unsafe"
    assert "STOCKMAN_TEMPLATE_LANG" in problem.fix


def test_names_show_no_secret_in_their_representation() -> None:
    assert TOKEN not in repr(names(CLASSIC))
