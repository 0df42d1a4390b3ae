"""`talos/`: machine files for talhelper or topf."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from stockman.config.language import Dialect
from stockman.config.writers.yaml_writer import Commented, render_yaml_document
from stockman.model.desired import Cluster, Desired, Talos
from stockman.model.names import NodeName
from stockman.model.origin import Origin
from stockman.model.problem import Problems
from stockman.model.secret import Secret, SecretForm, replace_secrets
from stockman.rendering.renovate import MARKERS
from stockman.rendering.tree import REPOSITORY, RenderedFile
from stockman.talos.secrets.bundle import placeholder_bundle
from stockman.talos.talconfig import FIRST_UNSUPPORTED, render_talconfig

if TYPE_CHECKING:
    from stockman.talos.patches.patch import Patch

Patches: TypeAlias = "Mapping[NodeName, Sequence[Patch]]"
"""Patches by node name, in the order of application."""

DIRECTORY = "talos"
_BUNDLES: dict[Dialect, str] = {"classic": "talsecret.sops.yaml", "toml": "secrets.sops.yaml"}
"""File name of the secrets bundle in the same directory."""
_T = TypeVar("_T")
_EMPTY = Secret("")


def talos_files(
    desired: Desired,
    layout: Dialect,
    patches: Patches,
    problems: Problems,
    dialect: Dialect | None = None,
) -> Iterator[RenderedFile]:
    """Return the files of the tool that fits the layout; the secrets bundle is not among them.

    `dialect` is that of the configuration if it differs; it determines the path of the bundle. The
    files do not depend on the content of the bundle.
    """
    cluster = desired.cluster
    if cluster is None or not _supports_machines(cluster, layout, problems):
        return
    known = without_references(desired)
    if layout == "classic":
        files = _talhelper(known, cluster, patches)
    else:
        from stockman.rendering.topf import topf_files

        files = topf_files(
            known, placeholder_bundle(), _BUNDLES[dialect or layout], patches, problems
        )
    for name, text in files:
        yield RenderedFile(path=f"{DIRECTORY}/{name}", owner=REPOSITORY, text=text)


def _talhelper(
    desired: Desired, cluster: Cluster, patches: Patches
) -> Iterator[tuple[str, str | Secret]]:
    talconfig = render_talconfig(desired, placeholder_bundle(), patches)
    versions = {
        "talosVersion": cluster.talos.version.tagged,
        "kubernetesVersion": cluster.kubernetes.version.tagged,
    }
    text = talconfig.text
    named: dict[str, object] = {}
    for key, version in versions.items():
        line = re.compile(rf"^{key}: {re.escape(version)}$", re.MULTILINE)
        text, count = line.subn(f"{key}: ${{{key}}}", text)
        if count:
            named[key] = Commented(value=version, above=(MARKERS[key],))
    yield "talconfig.yaml", text
    if named:
        yield "talenv.yaml", render_yaml_document(named)
    yield from talconfig.patches.items()
    yield from talconfig.secret_patches.items()


def _supports_machines(cluster: Cluster, dialect: Dialect, problems: Problems) -> bool:
    """Return whether the tool supports these machines; warns with the reason if not."""
    tool = "talhelper" if dialect == "classic" else "topf"
    contract, version = cluster.talos.contract, cluster.talos.version
    if contract.line >= FIRST_UNSUPPORTED:
        why = f"{tool} does not support the documents of Talos {contract.minor_text} yet"
    elif dialect == "toml" and version.line != contract.line:
        why = (
            f"topf derives the contract from the version, {version.minor_text}, but the "
            f"machines use contract {contract.minor_text}"
        )
    else:
        return True
    problems.warn(
        "render.talos-contract",
        f"the files of {tool} are not rendered",
        why=why,
        fix=f"manage these machines with stockman, which does not need {tool}",
        at=_written_at(cluster.talos, "contract") or _written_at(cluster.talos, "version"),
    )
    return False


def _written_at(talos: Talos, key: str) -> Origin | None:
    """Return the position of a key; None: it is not set."""
    origin = talos.origins.get(key)
    return origin if origin is not None and origin.at.file else None


def without_references(value: _T, instead: Secret = _EMPTY) -> _T:
    """Replace unresolved references with empty secrets.

    They are only used in encrypted files, which are not written while secrets are unresolved.
    """
    return replace_secrets(
        value, lambda secret, _: secret if secret.form is SecretForm.LITERAL else instead
    )
