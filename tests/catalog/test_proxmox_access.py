"""How components reach Proxmox VE: tokens, regions, authorities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml

from stockman.catalog.registry import component
from stockman.catalog.selection import select_components
from stockman.model.desired import Desired
from stockman.model.names import Region
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.rendering.repository import RenderedRepository, render_repository
from tests.catalog.estates import MATERIALS, wanted
from tests.catalog.looking import named, objects, values

CCM: dict[str, object] = {"proxmox-ccm": {"enabled": True, "token_secret": "file:ccm.txt"}}
ALL: dict[str, object] = CCM | {
    "proxmox-csi": {"enabled": True, "storage": "local-zfs", "token_secret": "file:csi.txt"},
    "karpenter": {
        "enabled": True,
        "storage": "local-zfs",
        "token_secret": "file:karpenter.txt",
        "settings": {"like": "k8s-work-1", "cpu_limit": 8, "memory_limit": "32Gi"},
    },
}
AUTHORITY = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"


def test_the_address_ends_in_the_path_of_the_api_once() -> None:
    (cluster,) = config(rendering(with_authority(wanted({"components": CCM}))))["clusters"]

    assert cluster["url"].endswith(":8006/api2/json")
    assert cluster["insecure"] is False


def test_components_trust_the_authority_that_the_files_name() -> None:
    repository = rendering(with_authority(wanted({"components": ALL}, "fifteen-node")))

    for release in ("proxmox-ccm", "proxmox-csi", "karpenter"):
        (volume,) = values(repository, release)["extraVolumes"]
        (mount,) = values(repository, release)["extraVolumeMounts"]
        content = named(repository, "ConfigMap", volume["configMap"]["name"])["data"]
        assert list(content.values()) == [AUTHORITY]
        assert mount["name"] == volume["name"]
        assert mount["mountPath"] == "/etc/pki/tls/certs"


def test_an_authority_that_is_not_there_is_an_error_and_never_ignored() -> None:
    estate = with_authority(wanted({"components": CCM}))

    (problem,) = told(estate, authorities={})

    assert problem.code == "component.authority"
    assert problem.is_error


def test_only_a_fingerprint_is_said_to_be_too_little() -> None:
    estate = wanted({"components": CCM})
    first = estate.proxmox[0]
    tls = replace(first.tls, ca_file=None, fingerprint=":".join(["AB"] * 32))

    (problem,) = told(replace(estate, proxmox=(replace(first, tls=tls),)), authorities={})

    assert problem.code == "component.insecure"
    assert not problem.is_error


def test_each_proxmox_cluster_has_a_token_of_its_own() -> None:
    estate = two_regions(wanted({"components": CCM}), {"token-second": Secret("another")})

    clusters = config(rendering(estate))["clusters"]

    assert [(cluster["region"], cluster["token_secret"]) for cluster in clusters] == [
        (str(estate.proxmox[0].region), "a resolved secret"),
        ("second", "another"),
    ]


def test_a_renewed_token_names_itself() -> None:
    secret = Secret("stockman-ccm@pve!ccm-2=5f0a9c1e")
    estate = two_regions(wanted({"components": CCM}), {"token-second": secret})

    second = config(rendering(estate))["clusters"][1]

    assert second["token_id"] == "stockman-ccm@pve!ccm-2"
    assert second["token_secret"] == "5f0a9c1e"


def test_a_component_waits_until_every_cluster_has_its_token() -> None:
    repository = rendering(two_regions(wanted({"components": CCM}), {}))

    (flux,) = [item for item in objects(repository, "Kustomization") if _is(item, "proxmox-ccm")]

    assert flux["spec"]["suspend"] is True
    assert not [item for item in objects(repository, "Secret") if _is(item, "proxmox-ccm-config")]


def test_a_secret_that_nobody_reads_is_an_error_with_the_name_meant() -> None:
    estate = two_regions(wanted({"components": CCM}), {"token-secnd": Secret("another")})

    (problem, without_token) = told(estate, authorities={})

    assert problem.code == "component.unknown-secret"
    assert problem.fix == "use token-second"
    assert without_token.code == "component.no-token"


def test_volumes_need_no_rights_on_hosts_or_on_the_whole_tree() -> None:
    access = component("proxmox-csi").proxmox

    assert access is not None
    assert "Sys.Audit" not in access.privileges
    assert "/" not in access.paths


def with_authority(estate: Desired) -> Desired:
    clusters = tuple(
        replace(item, tls=replace(item.tls, ca_file="pve.pem", fingerprint=None))
        for item in estate.proxmox
    )
    return replace(estate, proxmox=clusters)


def two_regions(estate: Desired, secrets: dict[str, Secret]) -> Desired:
    first = estate.proxmox[0]
    second = replace(first, region=Region("second"), endpoint="https://127.0.0.1:8006")
    wish = replace(estate.components["proxmox-ccm"], secrets=secrets)
    components = estate.components | {"proxmox-ccm": wish}
    return replace(estate, proxmox=(first, second), components=components)


def rendering(estate: Desired) -> RenderedRepository:
    problems = Problems()
    regions = [str(item.region) for item in estate.proxmox]
    materials = replace(MATERIALS, proxmox_authorities=dict.fromkeys(regions, AUTHORITY))
    rendered_repository = render_repository(estate, materials, "classic", problems)
    assert not problems.errors, [str(problem) for problem in problems.errors]
    return rendered_repository


def told(estate: Desired, authorities: dict[str, str]) -> list[Problem]:
    problems = Problems()
    assert estate.cluster is not None
    materials = replace(MATERIALS, proxmox_authorities=authorities)
    select_components(estate, estate.cluster, materials, "classic", problems)
    return list(problems)


def config(repository: RenderedRepository) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(
        named(repository, "Secret", "proxmox-ccm-config")["stringData"]["config.yaml"]
    )
    return content


def _is(item: dict[str, Any], name: str) -> bool:
    return bool(item.get("metadata", {}).get("name") == name)
