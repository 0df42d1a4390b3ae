"""Whose CI checks a repository."""

import pytest

from stockman.model.desired import Repository
from tests.rendering.shapes import CLUSTER, resolved

HOSTED = "known_hosts: git.example.com ssh-ed25519 AAAA"


def repository(url: str, *more: str) -> Repository:
    text = CLUSTER.format(visibility="public", talos="1.13.9").replace("owner/meadow", url)
    section = ", ".join(more)
    cluster = resolved(f"{text}repository: {{{section}}}\n" if more else text).cluster
    assert cluster is not None
    return cluster.repository


@pytest.mark.parametrize(
    ("url", "more", "ci"),
    [
        ("owner/meadow", (), "github"),
        ("https://gitlab.com/owner/meadow.git", (), "gitlab"),
        ("https://gitlab.example.com/owner/meadow.git", (), "gitlab"),
        ("https://codeberg.org/owner/meadow.git", (), "none"),
        ("https://git.example.com/owner/meadow.git", ("webhook_provider: gitlab",), "gitlab"),
        ("git@git.example.com:owner/meadow.git", (HOSTED,), "none"),
        ("owner/meadow", ("ci: none",), "none"),
        ("https://codeberg.org/owner/meadow.git", ("ci: github",), "github"),
    ],
)
def test_the_ci_is_that_of_the_host_unless_another_is_chosen(
    url: str, more: tuple[str, ...], ci: str
) -> None:
    configuration = repository(url, *more)

    assert configuration.ci == ci
    origin = configuration.where("ci")
    assert origin is not None
    assert (origin.via == "from the host of the address") is not any("ci:" in item for item in more)


def test_renovate_is_on_and_tasks_are_off_by_themselves() -> None:
    configuration = repository("owner/meadow")
    assert (configuration.renovate, configuration.tasks) == (True, False)
