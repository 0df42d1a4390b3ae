"""Registry mirrors: credentials are whole, and belong to one host each."""

from __future__ import annotations

from urllib.parse import urlsplit

from stockman.config.rules.context import Context
from stockman.model.machine import RegistryMirror
from stockman.model.origin import Origin

_PAIRS = (("username", "password"), ("client_cert_file", "client_key"))
_TLS = ("ca_file", "client_cert_file", "insecure_skip_verify")
_ACCESS = ("username", "password", "client_key", *_TLS)


def check(context: Context) -> None:
    registries = context.estate.talos.registries
    by_host: dict[str, tuple[str, RegistryMirror]] = {}
    for registry, mirror in registries.items():
        for pair in _PAIRS:
            _check_pair(context, registry, mirror, pair)
        _check_plain(context, registry, mirror)
        for host in [urlsplit(url).netloc for url in mirror.endpoints] or [registry]:
            other, first = by_host.setdefault(host, (registry, mirror))
            if _access(first) != _access(mirror):
                why = f"{host} is a mirror of {other} too, with other credentials"
                _problem(context, registry, why, "give both the same credentials", mirror.where())


def _check_pair(
    context: Context, registry: str, mirror: RegistryMirror, pair: tuple[str, str]
) -> None:
    given = [name for name in pair if getattr(mirror, name) is not None]
    if len(given) == 1:
        (missing,) = set(pair) - set(given)
        why = f"{given[0]} is given, {missing} is not"
        _problem(context, registry, why, f"give {missing} as well", mirror.where(given[0]))


def _check_plain(context: Context, registry: str, mirror: RegistryMirror) -> None:
    plain = [url for url in mirror.endpoints if url.startswith("http://")]
    for name in _TLS:
        if plain and getattr(mirror, name):
            why = f"{name} is for TLS, and {plain[0]} is reached without"
            fix = f"use https, or remove {name}"
            _problem(context, registry, why, fix, mirror.where(name))


def _access(mirror: RegistryMirror) -> list[object]:
    return [getattr(mirror, name) for name in _ACCESS]


def _problem(context: Context, registry: str, why: str, fix: str, at: Origin | None) -> None:
    what = f"machines would not get into the mirrors of {registry}"
    context.problems.error("mirror.access", what, why=why, fix=fix, at=at)
