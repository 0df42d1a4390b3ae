"""The names that templates can use: keys of the files, and what cluster-template adds."""

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
from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm
from stockman.rendering.templates.defaults import add_classic_defaults, add_toml_defaults

_SECRET_VARIABLE = pattern(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE|(API|ACCESS|AGE|_)_?KEY",
    re.IGNORECASE,
)
_METADATA = "sops"
"""SOPS metadata in a file, not a key of it."""


@record
class SecretValue:
    """A secret value: templates get its text, and results that contain it are marked."""

    name: str
    value: Secret | None
    """None: only a reference is known; a template that uses it is stopped."""


@record
class TemplateNames:
    """All names that templates can use, and the secrets among them."""

    values: Lookup[str, object] = field(repr=False)
    """Plain values, lists and mappings, with `SecretValue` for secrets."""

    @property
    def secrets(self) -> dict[str, Secret]:
        """Return the known secrets by name."""
        return dict(_secrets(self.values))


def template_names(
    loaded: LoadedConfig, desired: Desired, resolved: Lookup[Secret, Secret] | None = None
) -> TemplateNames:
    """Return the names from the files of a directory.

    `resolved` contains the known values of references to secrets.
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


TEMPLATE_VARIABLES = "STOCKMAN_TEMPLATE_"
"""Prefix of the environment variables that templates can read."""


def environment_names(variables: Lookup[str, str]) -> TemplateNames:
    """Return the environment variables for templates; those that look like secrets are secrets."""
    return TemplateNames(
        values={
            name: SecretValue(name=f"env.{name}", value=Secret(text))
            if text and _SECRET_VARIABLE.search(name.removeprefix(TEMPLATE_VARIABLES))
            else text
            for name, text in variables.items()
            if name.startswith(TEMPLATE_VARIABLES)
        }
    )


class _ValueCollector:
    """Collects the values of a tree and marks secrets by the schema of the configuration."""

    def __init__(self, loaded: LoadedConfig, resolved: Lookup[Secret, Secret]) -> None:
        self._literals = {origin.at for origin in loaded.plain_secrets}
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
            return [self.value(item, f"{path}[{index}]") for index, item in enumerate(node.items)]
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
