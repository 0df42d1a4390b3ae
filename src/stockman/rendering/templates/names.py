"""The names that templates see: the keys of the files, and what cluster-template adds to them."""

from __future__ import annotations

import re
from collections.abc import Mapping as Lookup
from dataclasses import field

from stockman.config.load import CLUSTER_TOML, FILES, Loaded
from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import Mapping, Node, Scalar, Sequence, untyped
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.desired import Desired
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm
from stockman.rendering.templates.classic_names import with_classic_defaults
from stockman.rendering.templates.toml_names import with_toml_defaults

_SECRET_VARIABLE = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE|(API|ACCESS|AGE|_)_?KEY",
    re.IGNORECASE,
)
_METADATA = "sops"
"""What SOPS adds to a file is no key of it."""


@record
class SecretValue:
    """A secret among the names: templates get its text, and what they make of it stays marked."""

    name: str
    value: Secret | None
    """None: only a reference to it is known, and a template that uses it is stopped."""


@record
class Names:
    """Everything that templates can name, and the secrets in it."""

    values: Lookup[str, object] = field(repr=False)
    """Plain values, lists and mappings, with `SecretValue` in the place of secrets."""

    @property
    def secrets(self) -> dict[str, Secret]:
        """The secrets that are known, by name."""
        return dict(_secrets(self.values))


def names_of(
    loaded: Loaded, desired: Desired, resolved: Lookup[Secret, Secret] | None = None
) -> Names:
    """The names that the files of a directory give.

    `resolved`: what references to secrets stand for, as far as it is known.
    """
    collected = _Collected(loaded, resolved or {})
    values: dict[str, object] = {}
    for name in FILES:
        if name in loaded.texts:
            reader = read_toml if name == CLUSTER_TOML else read_yaml
            tree = reader(name, loaded.texts[name])
            values |= {
                key: collected.value(entry.value, key)
                for key, entry in tree.entries.items()
                if key != _METADATA
            }
    if loaded.classic:
        with_classic_defaults(values, desired)
    else:
        with_toml_defaults(values, desired)
    return Names(values=values)


def environment_names(variables: Lookup[str, str]) -> Names:
    """The variables of the process as templates see them; those that sound secret are secrets."""
    return Names(
        values={
            name: SecretValue(name=f"env.{name}", value=Secret(text))
            if text and _SECRET_VARIABLE.search(name)
            else text
            for name, text in variables.items()
        }
    )


class _Collected:
    """Values of a tree, in which secrets are told from others by what the language knows."""

    def __init__(self, loaded: Loaded, resolved: Lookup[Secret, Secret]) -> None:
        self._literals = {origin.at for origin in loaded.literals}
        self._references = {
            secret.reveal(): secret
            for secret in loaded.secrets
            if secret.form is not SecretForm.LITERAL
        }
        self._resolved = resolved

    def value(self, node: Node, path: str) -> object:
        if isinstance(node, Mapping):
            return {
                key: self.value(entry.value, f"{path}.{key}") for key, entry in node.entries.items()
            }
        if isinstance(node, Sequence):
            return [self.value(item, f"{path}[{place}]") for place, item in enumerate(node.items)]
        return self._scalar(node, path)

    def _scalar(self, node: Scalar, path: str) -> object:
        if node.at in self._literals:
            return SecretValue(name=path, value=Secret(node.text))
        reference = self._references.get(node.text)
        if reference is not None:
            return SecretValue(name=path, value=self._resolved.get(reference))
        return untyped(node)


def _secrets(value: object) -> list[tuple[str, Secret]]:
    if isinstance(value, SecretValue):
        return [] if value.value is None else [(value.name, value.value)]
    if isinstance(value, Lookup):
        return [pair for item in value.values() for pair in _secrets(item)]
    if isinstance(value, list | tuple):
        return [pair for item in value for pair in _secrets(item)]
    return []
