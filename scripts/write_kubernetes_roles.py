"""Write the table of roles that a kube-apiserver begins with, from a real one.

Reads the answer of `kubectl get clusterroles,clusterrolebindings,roles,rolebindings -A -o json`
from its input.
"""

import json
import sys
from pathlib import Path

PLACE = Path(__file__).parent.parent / "lab" / "src" / "stockman_lab" / "kube" / "access"
MARK = "kubernetes.io/bootstrapping"


def row(found: dict[str, object]) -> list[object]:
    """Kind, namespace, name, labels of its own, and content."""
    metadata = found["metadata"]
    assert isinstance(metadata, dict)
    labels = {name: text for name, text in metadata["labels"].items() if name != MARK}
    content = {
        name: found[name]
        for name in ("aggregationRule", "rules", "roleRef", "subjects")
        if name in found
    }
    return [found["kind"], metadata.get("namespace", ""), metadata["name"], labels, content]


def main() -> None:
    found = [
        row(one)
        for one in json.load(sys.stdin)["items"]
        if MARK in (one["metadata"].get("labels") or {})
    ]
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in found)
    (PLACE / "builtin_roles.json").write_text(f"[{lines}]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
