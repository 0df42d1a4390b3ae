"""Bodies in YAML, with the types that the server's library sees in plain words."""

from __future__ import annotations

import re
from math import isfinite, isnan

import yaml

from stockman_lab.kube.objects import Tree
from stockman_lab.kube.schema.reading import TooDeep, check_depth

_BOOLEAN = re.compile(
    r"^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"
)
_INTEGER = re.compile(r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$")
_FLOAT = re.compile(
    r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)"
    r"|\.(?:nan|NaN|NAN))$"
)
_TRUE = frozenset({"y", "yes", "true", "on"})
_TAG = "tag:yaml.org,2002:"


class BadYaml(Exception):
    """A text that is not YAML."""


class _Loader(yaml.SafeLoader):
    """Without dates and times of day, which stay texts."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, form) for tag, form in yaml_implicit_resolver if tag[len(_TAG) :] in {"null", "merge"}
    ]
    for first, yaml_implicit_resolver in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{_TAG}bool", _BOOLEAN, list("yYnNtTfFoO"))
_Loader.add_implicit_resolver(f"{_TAG}int", _INTEGER, list("-+0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}float", _FLOAT, list("-+0123456789."))


def _truth(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> bool:
    return str(loader.construct_scalar(node)).lower() in _TRUE


_Loader.add_constructor(f"{_TAG}bool", _truth)


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # may lack
    """The same for long texts, with the scanner in C where there is one."""


_FastLoader.yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers
_FastLoader.add_constructor(f"{_TAG}bool", _truth)


def read_yaml(body: bytes) -> Tree:
    """The first document of a text as JSON; raises `BadYaml`."""
    try:
        value = _as_json(next(yaml.load_all(body, Loader=_Loader), None))
        check_depth(value)
        return value
    except TooDeep as error:
        raise BadYaml(str(error)) from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, TypeError, RecursionError) as error:
        raise BadYaml("yaml: " + str(error).replace("\n", " ")) from None


def read_yaml_documents(body: bytes) -> list[Tree]:
    """All documents of a text as JSON; raises `BadYaml`."""
    try:
        return [_as_json(one) for one in yaml.load_all(body, Loader=_FastLoader)]
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as why:
        raise BadYaml(str(why).replace("\n", " ")) from None


def _as_json(value: Tree) -> Tree:
    if isinstance(value, dict):
        return {_key(name): _as_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_as_json(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        word = "NaN" if isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise BadYaml(f"json: unsupported value: {word}")
    if isinstance(value, int | float | bool | None):
        return value
    return str(value)


def _key(name: Tree) -> str:
    if isinstance(name, bool):
        return "true" if name else "false"
    return "null" if name is None else str(name)
