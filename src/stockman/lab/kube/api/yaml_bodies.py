"""Bodies in YAML, with the types that the server's library sees in plain words."""

from __future__ import annotations

import re

import yaml

from stockman.lab.kube.objects import Tree

_BOOLEAN = re.compile(
    r"^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"
)
_INTEGER = re.compile(r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$")
_TRUE = frozenset({"y", "yes", "true", "on"})
_TAG = "tag:yaml.org,2002:"


class BadYaml(Exception):
    """A text that is not YAML."""


class _Loader(yaml.SafeLoader):
    """Without dates and times of day, which stay texts."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in found if tag[len(_TAG) :] in {"null", "float", "merge"}]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{_TAG}bool", _BOOLEAN, list("yYnNtTfFoO"))
_Loader.add_implicit_resolver(f"{_TAG}int", _INTEGER, list("-+0123456789"))


def _truth(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> bool:
    return str(loader.construct_scalar(node)).lower() in _TRUE


_Loader.add_constructor(f"{_TAG}bool", _truth)


def read_yaml(body: bytes) -> Tree:
    """The first document of a text as JSON; raises `BadYaml`."""
    try:
        found = next(iter(yaml.load_all(body, Loader=_Loader)), None)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as why:
        raise BadYaml(str(why).replace("\n", " ")) from None
    return _as_json(found)


def _as_json(value: Tree) -> Tree:
    if isinstance(value, dict):
        return {_key(name): _as_json(one) for name, one in value.items()}
    return [_as_json(one) for one in value] if isinstance(value, list) else value


def _key(name: Tree) -> str:
    if isinstance(name, bool):
        return "true" if name else "false"
    return "null" if name is None else str(name)
