"""Directories of other tools, taken over in tests."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.config.convert.result import Converted
from stockman.talos.imports.adopt import Platform, adopted
from stockman.talos.imports.talhelper import talhelper_directory
from stockman.talos.imports.topf import topf_directory
from stockman.talos.imports.variables import Variables

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
) -> Converted:
    contents = {name: text.encode() for name, text in files.items()}
    foreign = talhelper_directory(contents.get, Variables(values=variables or {}))
    return adopted(foreign, to_toml=to_toml, given=given, platform=platform)


def from_topf(
    files: Mapping[str, str], *, to_toml: bool = False, given: Mapping[str, str] = GIVEN
) -> Converted:
    contents = {name: text.encode() for name, text in files.items()}

    def listed(under: str) -> list[str]:
        return sorted(name for name in contents if name.startswith(f"{under}/"))

    return adopted(
        topf_directory(contents.get, listed), to_toml=to_toml, given=given, platform="nocloud"
    )
