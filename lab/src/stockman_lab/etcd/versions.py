"""Which etcd a release of Talos runs, and which data an etcd starts on."""

from __future__ import annotations

from stockman.etcd.buckets import DatabaseMetadata

_BY_TALOS = {"1.11": "3.6.5", "1.12": "3.6.8", "1.13": "3.6.12", "1.14": "3.7.1"}


def etcd_version(talos_minor: str) -> str:
    """The etcd that machines of a minor release of Talos run unless told otherwise."""
    return _BY_TALOS[talos_minor]


def minor_of(version: str) -> str:
    """`3.6.0` of `3.6.12`: how clusters and storages name their version."""
    major, minor, _ = version.split(".", 2)
    return f"{major}.{minor}.0"


def refusal_to_start(beside: DatabaseMetadata, server: str) -> str:
    """Why an etcd of a version does not start on a database; empty: it does."""
    if _ordered(beside.storage_version) > _ordered(minor_of(server)):
        return f'version "{beside.storage_version}" is not supported'
    if _ordered(beside.cluster_version) > _ordered(minor_of(server)):
        return "invalid downgrade; server version is lower than determined cluster version"
    return ""


def _ordered(version: str) -> tuple[int, ...]:
    """A version as numbers; nothing for one that is empty or no version."""
    parts = version.split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()
