"""Generate the definitions of the Gateway API, without descriptions.

Arguments: the folder `config/crd/standard` of a release, and the version of that release.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[1] / "src/stockman/steps/kubernetes/definitions"
_KIND = "CustomResourceDefinition"


def plain(value: object) -> object:
    """A definition without what people read in it."""
    if isinstance(value, dict):
        return {
            key: plain(item)
            for key, item in value.items()
            if not (key == "description" and isinstance(item, str))
        }
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def definitions(folder: Path) -> list[object]:
    """Every definition in a folder, by name; what else lies there is left out."""
    definitions = {}
    for file in sorted(folder.glob("*.yaml")):
        for definition in yaml.safe_load_all(file.read_text()):
            if definition and definition.get("kind") == _KIND:
                definition.pop("status", None)
                definitions[definition["metadata"]["name"]] = plain(definition)
    return [definitions[name] for name in sorted(definitions)]


def main() -> None:
    folder, version = Path(sys.argv[1]), sys.argv[2]
    text = json.dumps(definitions(folder), separators=(",", ":"), sort_keys=True)
    packed = gzip.compress(text.encode(), 9, mtime=0)
    (FOLDER / f"gateway-api-{version}.json.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
