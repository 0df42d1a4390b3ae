"""The names that templates see: the keys of the files, and what cluster-template adds to them."""

from __future__ import annotations

import re
from collections.abc import Mapping as Lookup
from dataclasses import field

from stockman.config.load import CLUSTER_TOML, CONFIG_FILES, LoadedConfig
from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.desired import Desired
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm
from stockman.rendering.templates.defaults import add_classic_defaults, add_toml_defaults

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
class TemplateNames:
    """Everything that templates can name, and the secrets in it."""

    values: Lookup[str, object] = field(repr=False)
    """Plain values, lists and mappings, with `SecretValue` in the place of secrets."""

    @property
    def secrets(self) -> dict[str, Secret]:
        """The secrets that are known, by name."""
        return dict(_secrets(self.values))


def template_names(
    loaded: LoadedConfig, desired: Desired, resolved: Lookup[Secret, Secret] | None = None
) -> TemplateNames:
    """The names that the files of a directory give.

    `resolved`: what references to secrets stand for, as far as it is known.
    """
    collected = _ValueCollector(loaded, resolved or {})
    values: dict[str, object] = {}
    for name in CONFIG_FILES:
        if name in loaded.texts:
            reader = read_toml if name == CLUSTER_TOML else read_yaml
            tree = reader(name, loaded.texts[name])
            values |= {
                key: collected.value(entry.value, key)
                for key, entry in tree.entries.items()
                if key != _METADATA
            }
    if loaded.classic:
        add_classic_defaults(values, desired)
    else:
        add_toml_defaults(values, desired)
    return TemplateNames(values=values)


def environment_names(variables: Lookup[str, str]) -> TemplateNames:
    """The variables of the process as templates see them; those that sound secret are secrets."""
    return TemplateNames(
        values={
            name: SecretValue(name=f"env.{name}", value=Secret(text))
            if text and _SECRET_VARIABLE.search(name)
            else text
            for name, text in variables.items()
        }
    )


class _ValueCollector:
    """Values of a tree, in which secrets are told from others by what the language knows."""

    def __init__(self, loaded: LoadedConfig, resolved: Lookup[Secret, Secret]) -> None:
        self._literals = {origin.at for origin in loaded.literals}
        self._references = {
            secret.reveal(): secret
            for secret in loaded.secrets
            if secret.form is not SecretForm.LITERAL
        }
        self._resolved = resolved

    def value(self, node: TreeNode, path: str) -> object:
        if isinstance(node, MappingNode):
            return {
                key: self.value(entry.value, f"{path}.{key}") for key, entry in node.entries.items()
            }
        if isinstance(node, SequenceNode):
            return [self.value(item, f"{path}[{place}]") for place, item in enumerate(node.items)]
        return self._scalar(node, path)

    def _scalar(self, node: ScalarNode, path: str) -> object:
        if node.at in self._literals:
            return SecretValue(name=path, value=Secret(node.text))
        reference = self._references.get(node.text)
        if reference is not None:
            return SecretValue(name=path, value=self._resolved.get(reference))
        return to_plain_data(node)


def _secrets(value: object) -> list[tuple[str, Secret]]:
    if isinstance(value, SecretValue):
        return [] if value.value is None else [(value.name, value.value)]
    if isinstance(value, Lookup):
        return [pair for item in value.values() for pair in _secrets(item)]
    if isinstance(value, list | tuple):
        return [pair for item in value for pair in _secrets(item)]
    return []
