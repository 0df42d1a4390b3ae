"""Generate the table of default roles from a real kube-apiserver.

Reads the output of `kubectl get clusterroles,clusterrolebindings,roles,rolebindings -A -o json`
from stdin.
"""

import json
import sys
from pathlib import Path

PLACE = Path(__file__).parent.parent / "lab" / "src" / "stockman_lab" / "kube" / "access"
MARK = "kubernetes.io/bootstrapping"


def row(role: dict[str, object]) -> list[object]:
    """Kind, namespace, name, labels of its own, and content."""
    metadata = role["metadata"]
    assert isinstance(metadata, dict)
    labels = {name: text for name, text in metadata["labels"].items() if name != MARK}
    content = {
        name: role[name]
        for name in ("aggregationRule", "rules", "roleRef", "subjects")
        if name in role
    }
    return [role["kind"], metadata.get("namespace", ""), metadata["name"], labels, content]


def main() -> None:
    rows = [
        row(item)
        for item in json.load(sys.stdin)["items"]
        if MARK in (item["metadata"].get("labels") or {})
    ]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    (PLACE / "builtin_roles.json").write_text(f"[{lines}]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
