"""GitRepositories: the newest commit of a real bare repository."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from urllib.parse import urlsplit

from stockman_lab.git.backend import found_place, place_of
from stockman_lab.git.reading import Commit, Repository, Unreadable
from stockman_lab.kube.flux.sources import Fetched, FetchFailure, SourceController, digest_of
from stockman_lab.kube.helm.definitions import definitions
from stockman_lab.kube.objects import Object, metadata_of, part_of

IGNORE_FILE = ".sourceignore"
_USUAL = (
    *(".git/", ".gitignore", ".gitmodules", ".gitattributes"),
    *("*.jpg", "*.jpeg", "*.gif", "*.png", "*.wmv", "*.flv", "*.tar.gz", "*.zip"),
    *(".github/", ".circleci/", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml"),
    *("cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml"),
    *("**/.goreleaser.yml", "**/.sops.yaml", "**/.flux.yaml"),
)


@dataclass(frozen=True, slots=True)
class _Pattern:
    form: re.Pattern[str]
    below: str
    is_folder: bool
    is_kept: bool


def kept_files(contents: Mapping[str, bytes], more: str) -> dict[str, bytes]:
    """The files that no pattern leaves out: usual ones, those of files, and further lines."""
    patterns = [_pattern(item, "") for item in _USUAL]
    for path in sorted(contents):
        if path == IGNORE_FILE or path.endswith(f"/{IGNORE_FILE}"):
            text = contents[path].decode("utf-8", "replace")
            patterns += _read(text, path.rpartition("/")[0])
    patterns += _read(more, "")
    return {path: content for path, content in contents.items() if not _is_out(path, patterns)}


def _read(text: str, below: str) -> list[_Pattern]:
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [_pattern(line, below) for line in lines]


def _pattern(line: str, below: str) -> _Pattern:
    text = line.strip()
    is_kept = text.startswith("!")
    text = text.removeprefix("!").removeprefix("\\")
    is_folder = text.endswith("/")
    text = text.rstrip("/")
    is_rooted = "/" in text
    parts = [_part(part) for part in text.lstrip("/").split("/")]
    form = "/".join(parts).replace("(?:.*)/", "(?:.*/)?")
    if form.endswith("/(?:.*)"):
        form = f"{form.removesuffix('/(?:.*)')}/.+"
    return _Pattern(re.compile(form if is_rooted else f"(?:.*/)?{form}"), below, is_folder, is_kept)


def _part(part: str) -> str:
    if part == "**":
        return "(?:.*)"
    escape = re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.sub(r"\\\[(.*?)\\\]", r"[\1]", escape)


def _is_out(path: str, patterns: list[_Pattern]) -> bool:
    """Whether the last pattern that speaks of a file, or of a folder above it, leaves it out.

    Other than in Git, a file can be kept though a folder above it is left out.
    """
    for pattern in reversed(patterns):
        inner = path.removeprefix(f"{pattern.below}/") if pattern.below else path
        if pattern.below and inner == path:
            continue
        parts = inner.split("/")
        places = (
            "/".join(parts[:depth]) for depth in range(1, len(parts) + (not pattern.is_folder))
        )
        if any(pattern.form.fullmatch(key) for key in places):
            return not pattern.is_kept
    return False


_TAG = re.compile(r"v\d+\.\d+\.\d+(?:-[0-9a-z.]+)?")
_PREPARED = "upstream_objects.json"


def known_tree(url: str, name: str) -> Mapping[str, bytes] | None:
    """The files of a repository at a tag; None: the lab does not know them."""
    content = _MADE.get(_place(url))
    return None if content is None or not _TAG.fullmatch(name) else content()


def hash_of(url: str, name: str) -> str:
    """The commit that a tag of a known repository is on, made up of its name."""
    return hashlib.sha1(f"{_place(url)} {name}".encode(), usedforsecurity=False).hexdigest()


def _place(url: str) -> str:
    return place_of(url).removesuffix(".git")


def _gateway_api() -> Mapping[str, bytes]:
    return _each_alone("config/crd/standard", "gateway-api")


def _envoy_gateway() -> Mapping[str, bytes]:
    return _each_alone("charts/gateway-helm/charts/crds/crds/generated", "envoy-gateway")


def _multus() -> Mapping[str, bytes]:
    text = files(__package__).joinpath(_PREPARED).read_text("utf-8")
    prepared: list[Object] = json.loads(text)
    return {"deployments/multus-daemonset-thick.yml": _text(definitions("multus") + prepared)}


def _each_alone(folder: str, table: str) -> Mapping[str, bytes]:
    """A file for every definition, named after group and plural."""
    each_alone: dict[str, bytes] = {}
    for definition in definitions(table):
        plural, _, group = str(metadata_of(definition)["name"]).partition(".")
        each_alone[f"{folder}/{group}_{plural}.yaml"] = _text([definition])
    return each_alone


def _text(contents: list[Object]) -> bytes:
    return "\n---\n".join(json.dumps(content) for content in contents).encode()


_MADE: dict[str, Callable[[], Mapping[str, bytes]]] = {
    _place("https://github.com/kubernetes-sigs/gateway-api"): _gateway_api,
    _place("https://github.com/envoyproxy/gateway"): _envoy_gateway,
    _place("https://github.com/k8snetworkplumbingwg/multus-cni"): _multus,
}


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
