"""References of images, as registries read them."""

from __future__ import annotations

import re

from stockman.talos.patches.addresses import url

_TAG = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_REPOSITORY = re.compile(r"[a-z0-9_./-]{2,255}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def is_reference(text: str) -> bool:
    """Whether it names an image, by a tag, a digest or neither."""
    base, at, digest = text.partition("@")
    if at:
        return _DIGEST.fullmatch(digest) is not None and _is_repository(_without_tag(base)[0])
    repository, tag = _without_tag(text)
    return (not tag or _TAG.fullmatch(tag) is not None) and _is_repository(repository)


def _without_tag(text: str) -> tuple[str, str]:
    base, colon, tag = text.rpartition(":")
    return (base, tag) if colon and "/" not in tag else (text, "")


def _is_repository(text: str) -> bool:
    registry, slash, path = text.partition("/")
    if not slash or not (any(mark in registry for mark in ".:") or registry == "localhost"):
        registry, path = "", text
    if not _REPOSITORY.fullmatch(path):
        return False
    try:
        return url(f"//{registry}").host == registry
    except ValueError:
        return False
