"""Contract 1.12: every registry has documents of its own."""

from __future__ import annotations

from stockman.talos.migration.draft import Draft
from stockman.talos.migration.edit import Plain
from stockman.talos.migration.values import chosen, mapping, texts, unpacked


def registries(draft: Draft) -> None:
    reason = "registries are in RegistryMirror-, RegistryAuth- and RegistryTLSConfig documents"
    section = mapping(draft.take("machine.registries", reason))
    for host, given in mapping(section.get("mirrors")).items():
        draft.put("RegistryMirrorConfig", _mirror(mapping(given)), reason, name=host)
    for host, given in mapping(section.get("config")).items():
        login = mapping(mapping(given).get("auth"))
        if login:
            draft.put("RegistryAuthConfig", login, reason, name=host)
        tls = _tls(mapping(mapping(given).get("tls")))
        if tls:
            draft.put("RegistryTLSConfig", tls, reason, name=host)


def _mirror(given: Plain) -> Plain:
    keeps_path: Plain = {"overridePath": True} if given.get("overridePath") is True else {}
    endpoints = [{"url": url, **keeps_path} for url in texts(given.get("endpoints"))]
    return {"endpoints": endpoints, **chosen(given, "skipFallback")}


def _tls(given: Plain) -> Plain:
    fields: Plain = {}
    identity = mapping(given.get("clientIdentity"))
    if identity:
        fields["clientIdentity"] = {
            "cert": unpacked(identity.get("crt")),
            "key": unpacked(identity.get("key")),
        }
    if given.get("ca"):
        fields["ca"] = unpacked(given["ca"])
    return fields | chosen(given, "insecureSkipVerify")
