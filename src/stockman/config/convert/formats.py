"""Source formats of a conversion, and how they are detected."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal

from stockman.config.convert.vm_file import is_vm_file
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, NODES_YAML
from stockman.config.source.text import Unreadable, decode_text
from stockman.config.source.yaml_reader import read_yaml

SourceFormat = Literal["classic", "toml", "vm", "terraform", "talhelper", "topf"]
TALCONFIG = "talconfig.yaml"
TOPF = "topf.yaml"

_BY_NAME: dict[str, SourceFormat] = {
    CLUSTER_YAML: "classic",
    NODES_YAML: "classic",
    CLUSTER_TOML: "toml",
    TALCONFIG: "talhelper",
    TOPF: "topf",
}
_BY_SUFFIX: dict[str, SourceFormat] = {".toml": "toml", ".tf": "terraform", ".tfvars": "terraform"}
_YAML = (".yaml", ".yml")


def detect_format(name: str, content: bytes) -> SourceFormat | None:
    """Return the format of a file by its name and, for YAML, its content; None: unknown."""
    suffix = PurePath(name).suffix
    known = _BY_NAME.get(name) or _BY_SUFFIX.get(suffix)
    if known is not None or suffix not in _YAML:
        return known
    try:
        tree = read_yaml(name, decode_text(name, content))
    except Unreadable:
        return "vm"  # its reader says what is wrong, and where
    return "vm" if is_vm_file(tree) else None
