"""`bootstrap/`: the Secrets and SSH host keys that Flux needs to read the repository."""

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
    """Return the Secrets with the age identity and the deploy key."""
    yield _secret("sops-age", {"age.agekey": materials.age_identity})
    repository = cluster.repository
    if not repository.private:
        return
    key = materials.deploy_key
    if key is None and materials.age_recipient:
        problems.error(
            "repository.deploy-key-missing",
            "the repository is private, but there is no deploy key",
            why=f"{repository.url} uses SSH, and there is no key to log in with",
            fix="run `stockman init` to create the missing files, or copy your own key there",
            at=repository.where("url"),
        )
        return
    # Without an identity nothing is encrypted; only the file name is needed.
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


def known_hosts(url: str, configured: str | None) -> str:
    """Return the SSH host keys for a repository: built-in ones, then those of the configuration."""
    server = git_host(url)
    lines = [line for line in host_keys() if line.split(" ", 1)[0] == server]
    lines += [line.strip() for line in (configured or "").splitlines() if line.strip()]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))
