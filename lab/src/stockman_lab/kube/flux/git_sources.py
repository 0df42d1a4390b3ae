"""GitRepositories: the newest commit of a real bare repository."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from stockman_lab.git.backend import found_place, place_of
from stockman_lab.git.reading import Commit, Repository, Unreadable
from stockman_lab.kube.flux.ignoring import kept_files
from stockman_lab.kube.flux.sources import Fetched, FetchFailure, SourceController, digest_of
from stockman_lab.kube.flux.upstream_trees import hash_of, known_tree
from stockman_lab.kube.objects import Object, part_of

_CHECKOUT = "failed to checkout and determine revision"
_KEPT = 8


def repository_of(repositories: Mapping[str, str], url: str) -> Repository | None:
    """The repository that a URL means; None: the lab has none."""
    result = found_place(repositories, place_of(url))
    return None if result is None or result[1].strip("/") else Repository(str(result[0]))


def files_at(repositories: Mapping[str, str], source: Object) -> Mapping[str, bytes]:
    """The files of the artifact of a GitRepository; raises `Unreadable`."""
    spec = part_of(source, "spec")
    url = str(spec.get("url", ""))
    name, _, commit = str(part_of(source, "status", "artifact").get("revision", "")).partition("@")
    repository, known = repository_of(repositories, url), known_tree(url, name)
    if repository is not None:
        commit = (commit or name).rpartition(":")[2]
        return _kept(repository.directory, commit, str(spec.get("ignore") or ""))
    if known is None:
        raise Unreadable("repository not found")
    return kept_files(known, str(spec.get("ignore") or ""))


@lru_cache(_KEPT)
def _kept(directory: str, commit: str, ignored: str) -> Mapping[str, bytes]:
    return kept_files(Repository(directory).files(commit), ignored)


class GitRepositories(SourceController):
    """Looks into repositories."""

    name = "gitrepository"
    plural = "gitrepositories"
    kind = "GitRepository"
    watches = ("pods", "gitrepositories.source.toolkit.fluxcd.io")

    def fetched(self, content: Object) -> Fetched:
        """The commit that the reference means now."""
        spec = part_of(content, "spec")
        url = str(spec.get("url") or "")
        if urlsplit(url).scheme not in {"http", "https", "ssh"}:
            text = f"failed to parse url '{url}': the scheme is not http, https or ssh"
            raise FetchFailure("URLInvalid", text, is_final=True)
        if part_of(spec, "secretRef").get("name"):
            self.secret(content, str(spec["secretRef"]["name"]))
        name, commit, files = self._found(spec, url)
        size = sum(map(len, files.values()))
        more = {"observedIgnore": spec["ignore"]} if spec.get("ignore") else {}
        return Fetched(
            revision=f"{name}@sha1:{commit.hash}" if name else f"sha1:{commit.hash}",
            file=f"{commit.hash}.tar.gz",
            digest=digest_of(commit.hash, str(spec.get("ignore") or "")),
            size=size,
            news=f"stored artifact for commit '{commit.subject}'",
            more=more,
        )

    def _found(self, spec: Object, url: str) -> tuple[str, Commit, Mapping[str, bytes]]:
        repository, ignored = repository_of(self.repositories(), url), str(spec.get("ignore") or "")
        ref = part_of(spec, "ref")
        if repository is None:
            name = str(ref.get("tag") or ref.get("branch") or "master")
            files = known_tree(url, name)
            if files is None:
                why = f"unable to list remote for '{url}': repository not found"
                raise FetchFailure("GitOperationFailed", f"{_CHECKOUT}: {why}")
            commit = Commit(hash_of(url, name), f"Release {name}")
            return name, commit, kept_files(files, ignored)
        try:
            name, commit = _resolve(repository, ref)
            return name, commit, _kept(repository.directory, commit.hash, ignored)
        except Unreadable as why:
            text = f"{_CHECKOUT}: unable to clone '{url}': {why}"
            raise FetchFailure("GitOperationFailed", text) from None


def _resolve(repository: Repository, ref: Object) -> tuple[str, Commit]:
    """The name that a revision begins with, and the commit."""
    references = repository.references()
    if not references:
        raise FetchFailure("EmptyGitRepository", "git repository is empty")
    if ref.get("commit"):
        return str(ref.get("branch") or ""), _commit(repository, str(ref["commit"]), "the commit")
    if ref.get("name"):
        full = name = str(ref["name"])
    elif ref.get("tag"):
        name = str(ref["tag"])
        full = f"refs/tags/{name}"
    else:
        name = str(ref.get("branch") or "master")
        full = f"refs/heads/{name}"
    return name, _commit(repository, references.get(full), full)


def _commit(repository: Repository, commit: str | None, what: str) -> Commit:
    result = repository.commit(commit) if commit else None
    if result is None:
        text = f'{_CHECKOUT}: couldn\'t find remote ref "{what}"'
        raise FetchFailure("GitOperationFailed", text)
    return result
