"""Secrets that a cluster gets before it follows its repository."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from stockman.catalog.component import InputFiles
from stockman.config.language import Dialect
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.rendering.bootstrap import bootstrap_secrets, known_hosts
from tests.catalog.estates import MATERIALS
from tests.rendering.shapes import shaped


def secrets(
    desired: Desired,
    dialect: Dialect = "classic",
    materials: InputFiles = MATERIALS,
    problems: Problems | None = None,
) -> dict[str, dict[str, str]]:
    """What the Secrets hold, by path."""
    assert desired.cluster is not None
    told = Problems() if problems is None else problems
    string_datas = {}
    for file in bootstrap_secrets(desired.cluster, materials, dialect, told):
        assert isinstance(file.text, Secret)
        content = yaml.safe_load(file.text.reveal())
        assert content["metadata"]["namespace"] == "flux-system"
        string_datas[file.path] = content["stringData"]
    return string_datas


def test_the_cluster_gets_the_identity_that_opens_its_secrets() -> None:
    assert secrets(shaped()) == {
        "bootstrap/sops-age.sops.yaml": {"age.agekey": MATERIALS.age_identity.reveal()}
    }


@pytest.mark.parametrize(
    ("dialect", "path"),
    [
        ("classic", "bootstrap/github-deploy-key.sops.yaml"),
        ("toml", "bootstrap/deploy-key.sops.yaml"),
    ],
)
def test_a_private_repository_is_fetched_with_its_key(dialect: Dialect, path: str) -> None:
    secret = secrets(shaped(visibility="private"), dialect)[path]

    assert secret["identity"] == "a deploy key"
    assert secret["known_hosts"].startswith("github.com ")


def test_a_private_repository_without_a_key_is_told() -> None:
    problems = Problems()
    secrets(
        shaped(visibility="private"),
        materials=replace(MATERIALS, deploy_key=None),
        problems=problems,
    )
    assert [problem.code for problem in problems] == ["repository.deploy-key-missing"]


def test_without_an_identity_the_file_is_known_by_name() -> None:
    nothing = InputFiles(age_recipient="", age_identity=Secret(""))
    problems = Problems()
    files = secrets(shaped(visibility="private"), materials=nothing, problems=problems)

    assert list(files) == [
        "bootstrap/sops-age.sops.yaml",
        "bootstrap/github-deploy-key.sops.yaml",
    ]
    assert not problems


@pytest.mark.parametrize(
    ("url", "count"),
    [
        ("ssh://git@github.com/owner/meadow.git", 3),
        ("git@gitlab.com:owner/meadow.git", 3),
        ("ssh://git@codeberg.org:22/owner/meadow.git", 3),
        ("ssh://git@git.example.com/owner/meadow.git", 0),
    ],
)
def test_keys_of_well_known_hosts_come_along(url: str, count: int) -> None:
    assert len(known_hosts(url, None).splitlines()) == count


def test_own_host_keys_come_last_and_once() -> None:
    given = "git.example.com ssh-ed25519 AAAA\n\n git.example.com ssh-ed25519 AAAA\n"
    files = known_hosts("ssh://git@git.example.com/owner/meadow.git", given)
    assert files == "git.example.com ssh-ed25519 AAAA\n"
