"""Files of the repository whose text becomes part of a machine configuration."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.crypto.pem import NotPem
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.origin import Origin
from stockman.model.problem import Problem
from stockman.talos.machine.facts import Machine

_SEALED = "ENC[AES256_GCM,"


def named_files(desired: Desired) -> dict[str, Origin | None]:
    """Every file that configurations of the cluster's machines contain, and who names it."""
    return {name: origin for name, origin in _named(desired) if name is not None}


def _named(desired: Desired) -> Iterator[tuple[str | None, Origin | None]]:
    if desired.cluster is None:
        return
    for mirror in desired.cluster.talos.registries.values():
        yield mirror.ca_file, mirror.where("ca_file")
        yield mirror.client_cert_file, mirror.where("client_cert_file")
    for manifest in desired.cluster.kubernetes.inline_manifests.values():
        yield manifest.file, manifest.where("file")
    for node in desired.nodes:
        for name in node.settings.trusted_roots.values():
            yield name, node.settings.where("trusted_roots")


def file_text(machine: Machine, name: str, origin: Origin | None) -> str:
    """The text of a file of the repository."""
    text = machine.files.get(name)
    if text is None:
        raise Refused(
            _problem(name, origin, "there is no such file", "add it, or name another one")
        )
    if _SEALED in text:
        raise Refused(
            _problem(
                name,
                origin,
                "it is encrypted, and machines would get the ciphertext",
                "name a file in the clear; secrets belong into files of the components",
            )
        )
    return text


def certificate(machine: Machine, name: str | None, origin: Origin | None) -> str:
    """The certificates of a file, as PEM. Empty: no file is named."""
    if name is None:
        return ""
    from stockman.crypto.certificates import read_certificate

    text = file_text(machine, name, origin)
    try:
        read_certificate(text)
    except NotPem:
        why = "it does not start with a certificate in PEM"
        fix = "export the certificate as PEM (`-----BEGIN CERTIFICATE-----`)"
        raise Refused(_problem(name, origin, why, fix)) from None
    return text


def _problem(name: str, origin: Origin | None, why: str, fix: str) -> Problem:
    return Problem(
        code="talos.file",
        what=f"{name} cannot become part of a machine configuration",
        where=origin.at if origin is not None else "",
        why=why,
        fix=fix,
    )
