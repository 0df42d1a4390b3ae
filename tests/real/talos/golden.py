"""What talosctl prints, compared with files; values that move are written as what they are.

A file says first where its columns and texts come from. `GOLDEN=write` writes the files anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.real.talos.served import Answer, Lab

PLACE = Path(__file__).parents[1] / "golden" / "talosctl"
_SERVER = "internal/app/machined/internal/server/v1alpha1/v1alpha1_server.go"
_COMMANDS = "cmd/talosctl/cmd/talos/"
SOURCES = {
    "apply-config": (_COMMANDS + "apply-config.go", _SERVER),
    "apply-config-dry-run": (_COMMANDS + "apply-config.go", _SERVER),
    "apply-config-try": (_COMMANDS + "apply-config.go", _SERVER),
    "bootstrap-again": (_COMMANDS + "bootstrap.go", _SERVER),
    "bootstrap-recover": (_COMMANDS + "bootstrap.go", "etcdutl snapshot status"),
    "etcd-alarm-disarm": (_COMMANDS + "etcd.go", _SERVER),
    "etcd-alarm-list": (_COMMANDS + "etcd.go", _SERVER),
    "etcd-members": (_COMMANDS + "etcd.go", _SERVER),
    "etcd-remove-unknown": (_SERVER, "internal/pkg/etcd/etcd.go"),
    "etcd-snapshot": (_COMMANDS + "etcd.go", "etcdutl snapshot status"),
    "etcd-status": (_COMMANDS + "etcd.go", _SERVER),
    "forfeit-alone": (_SERVER, "internal/pkg/etcd/etcd.go"),
    "image-list": (_COMMANDS + "image.go", "internal/app/machined/internal/server/v1alpha1"),
    "image-pull": (_COMMANDS + "image.go", "internal/app/machined/internal/server/v1alpha1"),
    "image-pull-unknown": (_COMMANDS + "image.go", "containerd core/remotes/docker/resolver.go"),
    "meta-delete-unknown": (_COMMANDS + "meta.go", _SERVER.replace("_server", "_meta")),
    "patch-mc": (_COMMANDS + "patch.go", _SERVER),
    "reset-label-unknown": (_SERVER, "cosi-project/runtime pkg/state/impl/inmem/errors.go"),
    "rollback-nothing": (_SERVER, "internal/app/machined/pkg/runtime/v1alpha1/bootloader"),
    "service-kubelet": (_COMMANDS + "service.go", "internal/app/machined/pkg/system"),
    "service-restart": (_COMMANDS + "service.go", _SERVER),
    "service-stop-refused": (_COMMANDS + "service.go", "internal/app/machined/pkg/system"),
    "services": (_COMMANDS + "service.go", "internal/app/machined/pkg/system"),
    "tracked-reboot": (_COMMANDS + "reboot.go", "cmd/talosctl/pkg/talos/action"),
    "tracked-reset": (_COMMANDS + "reset.go", "cmd/talosctl/pkg/talos/action"),
    "tracked-shutdown": (_COMMANDS + "shutdown.go", "cmd/talosctl/pkg/talos/action"),
    "tracked-upgrade": (_COMMANDS + "upgrade.go", "cmd/talosctl/pkg/talos/action"),
    "upgrade-guard": (_SERVER, "internal/pkg/etcd/etcd.go ValidateForUpgrade"),
    "upgrade-image-unknown": (_SERVER, "internal/app/images"),
    "wipe-disk": (_COMMANDS + "wipe.go", "internal/app/storaged/server.go"),
    "wrong-role": ("internal/app/machined/internal/server/v1alpha1", "pkg/grpc/middleware/authz"),
}
"""Where in siderolabs/talos columns and texts are, by name of the file."""
_STEPS = "phase|task|service|stage|sequence|error|unavailable|waiting for actor"
"""Lines of tracked actions that come or not, and as often as it takes."""
_MOVING = (
    (r"(?m)^WARNING: .* is older than client version .*\n", ""),
    (rf"(?m)^\s*\"[^\"]*\": ({_STEPS}).*\n", ""),
    (r'(snapshot|saved to) "/[^"]*"', r'\1 "FILE"'),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r"sha256:[0-9a-f]{64}", "DIGEST"),
    (r"\b[0-9a-f]{64}\b", "SCHEMATIC"),
    (r"\b(?=[0-9a-f]*[a-f])[0-9a-f]{16}\b|\b[0-9]{16}\b", "MEMBER"),
    (r"LS0t[A-Za-z0-9+/=]+", "PEM"),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z| [+]0000 UTC)?", "MOMENT"),
    (r"\(?-?([0-9]+h)?([0-9]+m)?[0-9.]+s ago\)?", "SPAN ago"),
    (r"PID [0-9]+", "PID NUMBER"),
    (r"hash [0-9a-f]{8}", "hash HASH"),
    (r"(revision|total keys|total size) [0-9]+", r"\1 NUMBER"),
    (r"\([0-9]+ bytes\)", "(NUMBER bytes)"),
    (r"[0-9.]+ [kM]B( \([0-9.]+%\))?", "SIZE"),
    (r"\bv?1\.[0-9]+\.[0-9]+\b|\b3\.[0-9]+\.[0-9]+\b", "VERSION"),
    (r"(MEMBER +)[0-9]+( +[0-9]+ +)[0-9]+( +(?:true|false))", r"\1INDEX\2INDEX\3"),
    (r"(?m) {2,}", "  "),
    (r"(?m)[ \t]+$", ""),
)

_OF_MACHINES = {"apply-config-dry-run", "image-list", "image-pull", "image-pull-unknown"} | {
    "services",
    "tracked-upgrade",
    "upgrade-image-unknown",
}
"""What differs with the minor of the machine: compared where client and machine are of the same."""
_ROW = re.compile(r"^\S+  MEMBER  talos-")


def written(answer: Answer) -> str:
    """An answer without what is different each time."""
    parts = [f"exit {answer.returncode}\n"]
    for name, text in (("stdout", answer.stdout), ("stderr", answer.stderr)):
        for pattern, word in _MOVING:
            text = re.sub(pattern, word, text)
        text = _in_order(text)
        if text:
            parts.append(f"[{name}]\n{text.rstrip()}\n")
    return "".join(parts)


def _in_order(text: str) -> str:
    """Rows of members one after another: they are sorted by identities, which move."""
    rows = iter(sorted(line for line in text.splitlines() if _ROW.search(line)))
    return "\n".join(next(rows) if _ROW.search(line) else line for line in text.splitlines())


def agrees(lab: Lab, name: str, version: str, answer: Answer) -> None:
    """An answer is what the file of this release says, from the first line to the last."""
    is_own = lab.server == version
    if name in _OF_MACHINES and not is_own:
        return
    sources = " and ".join(SOURCES[name])
    text = f"# talosctl {version}\n# Source: siderolabs/talos v{version}: {sources}\n"
    text += written(answer)
    file = PLACE / f"{name}.{version}.txt"
    if os.environ.get("GOLDEN") == "write" and (is_own or not file.exists()):
        file.write_text(text)
    assert text == (file.read_text() if file.exists() else ""), f"{file.name}:\n{text}"
