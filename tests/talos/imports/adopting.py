"""Directories of other tools, taken over in tests."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.config.convert.output import ConversionResult
from stockman.talos.imports.adoption import Platform, adopt_cluster
from stockman.talos.imports.talhelper.node_keys import Variables
from stockman.talos.imports.talhelper.nodes import read_talhelper_directory
from stockman.talos.imports.topf import read_topf_directory

GIVEN = {
    "gateways.internal": "127.66.0.11",
    "gateways.dns": "127.66.0.12",
    "repository.url": "https://github.com/example/meadow",
}
"""What talhelper does not know, and a cluster needs."""


def from_talhelper(
    files: Mapping[str, str],
    *,
    to_toml: bool = False,
    given: Mapping[str, str] = GIVEN,
    platform: Platform = "nocloud",
    variables: Mapping[str, str] | None = None,
) -> ConversionResult:
    contents = {name: text.encode() for name, text in files.items()}
    foreign = read_talhelper_directory(contents.get, Variables(values=variables or {}))
    return adopt_cluster(foreign, to_toml=to_toml, values=given, platform=platform)


def from_topf(
    files: Mapping[str, str], *, to_toml: bool = False, given: Mapping[str, str] = GIVEN
) -> ConversionResult:
    contents = {name: text.encode() for name, text in files.items()}

    def listed(under: str) -> list[str]:
        return sorted(name for name in contents if name.startswith(f"{under}/"))

    return adopt_cluster(
        read_topf_directory(contents.get, listed), to_toml=to_toml, values=given, platform="nocloud"
    )
