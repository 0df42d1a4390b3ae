"""`bootstrap/`: what a cluster needs before it can follow its repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.catalog.app import Sheet
from stockman.catalog.component import InputFiles
from stockman.config.presets import Dialect
from stockman.model.desired import Cluster
from stockman.model.git_address import git_host
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.rendering.sheets import render_sheet
from stockman.rendering.templates.host_keys import host_keys
from stockman.rendering.tree import REPOSITORY, RenderedFile

DIRECTORY = "bootstrap"
_NAMESPACE = "flux-system"
_DEPLOY_KEYS: dict[Dialect, str] = {"classic": "github-deploy-key", "toml": "deploy-key"}


def bootstrap_secrets(
    cluster: Cluster, materials: InputFiles, dialect: Dialect, problems: Problems
) -> Iterator[RenderedFile]:
    """The identity that opens the repository's secrets, and the key that fetches it."""
    yield _secret("sops-age", {"age.agekey": materials.age_identity})
    repository = cluster.repository
    if not repository.private:
        return
    key = materials.deploy_key
    if key is None and materials.age_recipient:
        problems.error(
            "repository.deploy-key-missing",
            "the repository is private, and there is no deploy key",
            why=f"{repository.url} is fetched by SSH, and nothing is there to log in with",
            fix="run `stockman init`, which makes what is missing, or put your own key there",
            at=repository.where("url"),
        )
        return
    # Without an identity nothing is encrypted: the file is known by its name alone.
    texts: Mapping[str, Secret | str] = {
        "identity": key or Secret(""),
        "known_hosts": known_hosts(repository.url, repository.known_hosts),
    }
    yield _secret(_DEPLOY_KEYS[dialect], texts)


def _secret(name: str, texts: Mapping[str, Secret | str]) -> RenderedFile:
    content: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": _NAMESPACE},
        "stringData": dict(texts),
    }
    file = f"{name}.sops.yaml"
    sheet = Sheet(name=file, objects=(content,))
    return render_sheet(f"{DIRECTORY}/{file}", REPOSITORY, sheet)


def known_hosts(url: str, given: str | None) -> str:
    """The host keys for a repository: those that come with stockman, then those that are given."""
    server = git_host(url)
    lines = [line for line in host_keys() if line.split(" ", 1)[0] == server]
    lines += [line.strip() for line in (given or "").splitlines() if line.strip()]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))
