"""Pushing to a registry: blobs in one piece or many, and manifests that refer to them."""

from __future__ import annotations

import json

from stockman_lab.http.messages import Response
from stockman_lab.images.container import INDEX, MANIFEST, digest_of
from stockman_lab.registry.answers import RegistryError, done
from stockman_lab.registry.published import installer_in
from stockman_lab.registry.reference import DIGEST, TAG
from stockman_lab.registry.state import RegistryState, Repository, StoredManifest

_BAD, _MISSING = 400, 404
_IMAGES = frozenset(
    {
        INDEX,
        MANIFEST,
        "application/vnd.docker.distribution.manifest.v2+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    }
)


def begin(
    state: RegistryState, repository: str, query: dict[str, list[str]], body: bytes
) -> Response:
    """Begin to take a blob, take it whole, or find that it is there already."""
    _check_place(repository)
    mounted = query.get("mount", [""])[0]
    if mounted in state.blobs:
        return _taken(repository, mounted)
    digest = query.get("digest", [""])[0]
    if digest:
        return _put(state, repository, digest, body)
    state.opened += 1
    name = f"00000000-0000-4000-8000-{state.opened:012x}"
    state.uploads[name] = b""
    return _going_on(repository, name, b"")


def go_on(state: RegistryState, repository: str, name: str, body: bytes) -> Response:
    """Take another piece."""
    _upload(state, name)
    state.uploads[name] += body
    return _going_on(repository, name, state.uploads[name])


def finish(state: RegistryState, repository: str, name: str, digest: str, body: bytes) -> Response:
    """Take the last piece, and keep the blob if it is what it was said to be."""
    content = _upload(state, name) + body
    answer = _put(state, repository, digest, content)
    del state.uploads[name]
    return answer


def put_manifest(
    state: RegistryState, repository: str, reference: str, media_type: str, body: bytes
) -> Response:
    """Keep a manifest under its digest, and under a tag if one is given."""
    _check_place(repository)
    digest = digest_of(body)
    is_digest = DIGEST.fullmatch(reference) is not None
    if is_digest and reference != digest:
        raise RegistryError(
            _BAD, "DIGEST_INVALID", "provided digest did not match uploaded content"
        )
    if not is_digest and not TAG.fullmatch(reference):
        raise RegistryError(_BAD, "TAG_INVALID", "manifest tag did not match URI")
    said = _object(body)
    place = state.repositories.get(repository) or Repository()
    _check_parts(state, place, said)
    kind = media_type or str(said.get("mediaType", "")) or MANIFEST
    place.manifests[digest] = StoredManifest(kind, body)
    if not is_digest:
        place.tags[reference] = digest
    state.repositories[repository] = place
    headers = {
        "Location": f"/v2/{repository}/manifests/{digest}",
        "Docker-Content-Digest": digest,
    }
    subject = said.get("subject")
    if isinstance(subject, dict):
        headers["OCI-Subject"] = str(subject.get("digest", ""))
    return done(201, headers)


def remove_manifest(state: RegistryState, repository: str, reference: str) -> Response:
    """Forget a tag, or a manifest with all of its tags."""
    place = state.repositories.get(repository)
    if place is None:
        raise RegistryError(_MISSING, "NAME_UNKNOWN", "repository name not known to registry")
    if reference in place.tags:
        del place.tags[reference]
    elif reference in place.manifests:
        del place.manifests[reference]
        place.tags = {tag: one for tag, one in place.tags.items() if one != reference}
    else:
        raise RegistryError(_MISSING, "MANIFEST_UNKNOWN", f"manifest unknown: {reference}")
    return done(202, {})


def referrers(state: RegistryState, repository: str, digest: str) -> dict[str, object]:
    """The index of all manifests that say that they are about another one."""
    place = state.repositories.get(repository) or Repository()
    entries: list[dict[str, object]] = []
    for name, stored in place.manifests.items():
        said = _object(stored.content)
        subject = said.get("subject")
        if not isinstance(subject, dict) or subject.get("digest") != digest:
            continue
        config = said.get("config")
        of_config = config.get("mediaType", "") if isinstance(config, dict) else ""
        entry: dict[str, object] = {
            "mediaType": stored.media_type,
            "digest": name,
            "size": len(stored.content),
            "artifactType": said.get("artifactType") or of_config,
        }
        entries.append(entry)
    return {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}


def _put(state: RegistryState, repository: str, digest: str, content: bytes) -> Response:
    if digest != digest_of(content):
        raise RegistryError(
            _BAD, "DIGEST_INVALID", "provided digest did not match uploaded content"
        )
    state.blobs[digest] = content
    return _taken(repository, digest)


def _taken(repository: str, digest: str) -> Response:
    text = f"/v2/{repository}/blobs/{digest}"
    return done(201, {"Location": text, "Docker-Content-Digest": digest})


def _going_on(repository: str, name: str, content: bytes) -> Response:
    headers = {
        "Location": f"/v2/{repository}/blobs/uploads/{name}",
        "Docker-Upload-UUID": name,
        "Range": f"0-{max(len(content) - 1, 0)}",
    }
    return done(202, headers)


def _upload(state: RegistryState, name: str) -> bytes:
    if name not in state.uploads:
        raise RegistryError(_MISSING, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry")
    return state.uploads[name]


def _check_place(repository: str) -> None:
    if installer_in(repository) is not None:
        raise RegistryError(405, "UNSUPPORTED", "the operation is unsupported")


def _check_parts(state: RegistryState, repository: Repository, manifest: dict[str, object]) -> None:
    config, layers, manifests = (manifest.get(one) for one in ("config", "layers", "manifests"))
    blobs = [config, *(layers if isinstance(layers, list) else ())]
    for blob in blobs:
        digest = blob.get("digest", "") if isinstance(blob, dict) else ""
        if digest and digest not in state.blobs:
            text = f"blob unknown to registry: {digest}"
            raise RegistryError(_MISSING, "MANIFEST_BLOB_UNKNOWN", text)
    for blob in manifests if isinstance(manifests, list) else ():
        digest = blob.get("digest", "") if isinstance(blob, dict) else ""
        if digest not in repository.manifests:
            text = f"manifest unknown: {digest}"
            raise RegistryError(_MISSING, "MANIFEST_BLOB_UNKNOWN", text)


def _object(body: bytes) -> dict[str, object]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("schemaVersion") != 2:
        raise RegistryError(_BAD, "MANIFEST_INVALID", "manifest invalid")
    return data
