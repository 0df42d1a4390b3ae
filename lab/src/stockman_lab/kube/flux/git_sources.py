"""GitRepositories: the newest commit of a real bare repository."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from stockman_lab.git.backend import found_place, place_of
from stockman_lab.git.reading import Commit, Repository, Unreadable
from stockman_lab.kube.flux.ignoring import kept_files
from stockman_lab.kube.flux.known_trees import hash_of, known_tree
from stockman_lab.kube.flux.sources import Fetched, FetchFailure, SourceController, digest_of
from stockman_lab.kube.flux.versions import newest_fitting
from stockman_lab.kube.objects import Object, part_of

_BRANCHES, _TAGS = "refs/heads/", "refs/tags/"
_CHECKOUT = "failed to checkout and determine revision"
_KEPT = 8


def repository_of(repositories: Mapping[str, str], url: str) -> Repository | None:
    """The repository that a URL means; None: the lab has none."""
    found = found_place(repositories, place_of(url))
    return None if found is None or found[1].strip("/") else Repository(str(found[0]))


def files_at(repositories: Mapping[str, str], source: Object) -> Mapping[str, bytes]:
    """The files of the artifact of a GitRepository; raises `Unreadable`."""
    spec = part_of(source, "spec")
    url = str(spec.get("url", ""))
    name, _, commit = str(part_of(source, "status", "artifact").get("revision", "")).partition("@")
    repository, known = repository_of(repositories, url), known_tree(url)
    if repository is not None:
        return _chosen_at(spec, repository, (commit or name).rpartition(":")[2])
    files = known(name) if known is not None else None
    if files is None:
        raise Unreadable("repository not found")
    return _chosen(spec, files)


def _chosen_at(spec: Object, repository: Repository, commit: str) -> Mapping[str, bytes]:
    files = _kept(repository.directory, commit, str(spec.get("ignore") or ""))
    return _checked_out(spec, files)


@lru_cache(_KEPT)
def _kept(directory: str, commit: str, ignored: str) -> Mapping[str, bytes]:
    return kept_files(Repository(directory).files(commit), ignored)


def _chosen(spec: Object, contents: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The files that become an artifact."""
    return _checked_out(spec, kept_files(contents, str(spec.get("ignore") or "")))


def _checked_out(spec: Object, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    places = tuple(
        f"{one.removeprefix('./').strip('/')}/" for one in spec.get("sparseCheckout") or ()
    )
    if not places:
        return files
    return {
        path: file for path, file in files.items() if path.startswith(places) or "/" not in path
    }


class GitRepositories(SourceController):
    """Looks into repositories."""

    name = "gitrepository"
    plural = "gitrepositories"
    kind = "GitRepository"
    watches = ("pods", "gitrepositories.source.toolkit.fluxcd.io")

    def fetched(self, found: Object) -> Fetched:
        """The commit that the reference means now."""
        spec = part_of(found, "spec")
        url = str(spec.get("url") or "")
        for field in ("include", "verify", "proxySecretRef", "recurseSubmodules"):
            if spec.get(field):
                text = f"spec.{field} is not simulated by the lab"
                raise FetchFailure("GitOperationFailed", text, is_final=True)
        if urlsplit(url).scheme not in {"http", "https", "ssh"}:
            text = f"failed to parse url '{url}': the scheme is not http, https or ssh"
            raise FetchFailure("URLInvalid", text, is_final=True)
        if part_of(spec, "secretRef").get("name"):
            self.secret(found, str(spec["secretRef"]["name"]))
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
        repository, known = repository_of(self.repositories(), url), known_tree(url)
        ref = part_of(spec, "ref")
        try:
            if repository is not None:
                name, commit = _resolved(repository, ref, url)
                return name, commit, _chosen_at(spec, repository, commit.hash)
        except Unreadable as why:
            text = f"{_CHECKOUT}: unable to clone '{url}': {why}"
            raise FetchFailure("GitOperationFailed", text) from None
        if known is None:
            problem = f"unable to list remote for '{url}': repository not found"
            raise FetchFailure("GitOperationFailed", f"{_CHECKOUT}: {problem}")
        name = str(ref.get("tag") or ref.get("branch") or ref.get("name") or "master")
        files = known(name)
        if files is None:
            problem = f"unable to clone '{url}': couldn't find remote ref \"refs/tags/{name}\""
            raise FetchFailure("GitOperationFailed", f"{_CHECKOUT}: {problem}")
        return name, Commit(hash_of(url, name), f"Release {name}"), _chosen(spec, files)


def _resolved(repository: Repository, ref: Object, url: str) -> tuple[str, Commit]:
    """The name that a revision begins with, and the commit."""
    references = repository.references()
    branch = str(ref.get("branch") or "master")
    if ref.get("name"):
        name = str(ref["name"])
        return name, _commit(
            repository, references.get(name), f"unable to resolve ref '{name}' to a specific commit"
        )
    if ref.get("commit"):
        wanted = str(ref["commit"])
        why = f"unable to resolve commit object for '{wanted}': object not found"
        return str(ref.get("branch") or ""), _commit(repository, wanted, why)
    if ref.get("semver"):
        return _fitting(repository, references, str(ref["semver"]))
    if ref.get("tag"):
        tag = str(ref["tag"])
        why = f"unable to clone '{url}': couldn't find remote ref \"refs/tags/{tag}\""
        return tag, _commit(repository, references.get(f"{_TAGS}{tag}"), why)
    if not references:
        raise FetchFailure("EmptyGitRepository", "git repository is empty")
    why = f'couldn\'t find remote ref "refs/heads/{branch}"'
    return branch, _commit(repository, references.get(f"{_BRANCHES}{branch}"), why)


def _fitting(
    repository: Repository, references: Mapping[str, str], wanted: str
) -> tuple[str, Commit]:
    tags = [name[len(_TAGS) :] for name in references if name.startswith(_TAGS)]
    try:
        tag = newest_fitting(tags, wanted)
    except ValueError as why:
        text = f"{_CHECKOUT}: semver parse error: {why}"
        raise FetchFailure("GitOperationFailed", text) from None
    if tag is None:
        text = f"{_CHECKOUT}: no match found for semver: {wanted}"
        raise FetchFailure("GitOperationFailed", text)
    return tag, _commit(repository, references[f"{_TAGS}{tag}"], "object not found")


def _commit(repository: Repository, found: str | None, why: str) -> Commit:
    commit = repository.commit(found) if found else None
    if commit is None:
        raise FetchFailure("GitOperationFailed", f"{_CHECKOUT}: {why}")
    return commit
