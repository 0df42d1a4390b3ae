"""What stands in rendered files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from stockman.model.secret import Secret
from stockman.rendering.repository import RenderedRepository
from tests.fast_yaml import load_all_yaml


def objects(repository: RenderedRepository, kind: str) -> list[dict[str, Any]]:
    """Every object of a kind, in the order of paths; secrets are looked into as well."""
    return [document for document in _documents(repository) if document.get("kind") == kind]


def named(repository: RenderedRepository, kind: str, name: str) -> dict[str, Any]:
    """The one object of a kind and name."""
    (only,) = [item for item in objects(repository, kind) if item["metadata"]["name"] == name]
    return only


def values(repository: RenderedRepository, release: str) -> dict[str, Any]:
    """Chart values of a release."""
    given: dict[str, Any] = named(repository, "HelmRelease", release)["spec"]["values"]
    return given


def text(repository: RenderedRepository, path: str) -> str:
    """The content of a file that is no secret."""
    file = repository.tree.get(path)
    assert file is not None
    assert isinstance(file.text, str)
    return file.text


def _documents(repository: RenderedRepository) -> Iterator[dict[str, Any]]:
    for file in repository.tree:
        if file.path.startswith("kubernetes/apps/"):
            content = file.text.reveal() if isinstance(file.text, Secret) else file.text
            yield from (item for item in _read(content) if "metadata" in item)


@lru_cache(maxsize=2048)
def _read(content: str) -> tuple[dict[str, Any], ...]:
    """The documents of a file, read once for all who look at it; nobody changes them."""
    return tuple(load_all_yaml(content))
