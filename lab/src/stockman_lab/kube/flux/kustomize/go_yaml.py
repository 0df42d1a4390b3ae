"""YAML as kustomize reads and writes it, by the library in Go that it uses."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import yaml

from stockman.crypto.sops.scalars import is_plain, needs_quotes
from stockman_lab.kube.api.yaml_bodies import BadYaml
from stockman_lab.kube.objects import Tree

_TAG = "tag:yaml.org,2002:"
_BOOLEAN = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_INTEGER = re.compile(r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$")
_FLOAT = re.compile(
    r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)"
    r"|\.(?:nan|NaN|NAN))$"
)
_MOST_WHOLE = 1e21
_Reader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Reader):  # type: ignore[misc, valid-type]  # the one in C may not be there
    """With the words of YAML 1.2, and dates."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, form)
        for tag, form in yaml_implicit_resolver
        if tag[len(_TAG) :] in {"null", "merge", "timestamp"}
    ]
    for first, yaml_implicit_resolver in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{_TAG}bool", _BOOLEAN, list("tTfF"))
_Loader.add_implicit_resolver(f"{_TAG}int", _INTEGER, list("-+0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}float", _FLOAT, list("-+0123456789."))


def read_go_yaml(content: bytes) -> list[Tree]:
    """All documents of a text as JSON; raises `BadYaml`."""
    try:
        return [_as_json(one) for one in yaml.load_all(content, Loader=_Loader)]
    except yaml.MarkedYAMLError as why:
        raise BadYaml(_in_go(why)) from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as why:
        raise BadYaml(f"yaml: {why}".replace("\n", " ")) from None


def _in_go(why: yaml.MarkedYAMLError) -> str:
    """What is wrong, as the library in Go says it: parsers count lines from nought there."""
    mark = why.problem_mark or why.context_mark
    line = (mark.line if mark else 0) + isinstance(why, yaml.scanner.ScannerError)
    return f"yaml: {f'line {line}: ' if line else ''}{why.problem or why.context}"


def _as_json(value: Tree) -> Tree:
    if isinstance(value, dict):
        return {_key(name): _as_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_as_json(one) for one in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST_WHOLE:
        return int(value)
    return _moment(value) if isinstance(value, date) else value


def _moment(value: date) -> str:
    if not isinstance(value, datetime):
        return f"{value.isoformat()}T00:00:00Z"
    return (
        value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if value.tzinfo
        else f"{value.isoformat()}Z"
    )


def _key(name: Tree) -> str:
    if isinstance(name, bool):
        return "true" if name else "false"
    return "null" if name is None else str(_as_json(name))


class _Dumper(yaml.SafeDumper):
    """Quotes and breaks texts where Go does."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif is_plain(text) and needs_quotes(text):
        style = '"'
    return dumper.represent_scalar(f"{_TAG}str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]  # trees share nothing


def go_text(value: Tree) -> str:
    """A value as YAML: names in order, nothing in brackets, long lines kept."""
    return yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=False,
        allow_unicode=True,
        width=float("inf"),
        sort_keys=True,
    )
