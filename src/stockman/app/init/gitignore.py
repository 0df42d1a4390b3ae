"""Lines of `.gitignore` for files that must not be committed."""

from __future__ import annotations

GITIGNORE = ".gitignore"

_HEADING = "# secrets and run journals of stockman: never committed"
_PATTERNS = (
    "/age.key",
    "/github-deploy.key",
    "/github-deploy.key.pub",
    "/github-push-token.txt",
    "/deploy.key",
    "/deploy.key.pub",
    "/flux-webhook-token.txt",
    "/cloudflare-tunnel.json",
    "/kubeconfig",
    "/talosconfig",
    "/talos/talosconfig",
    "/talos/clusterconfig/",
    "/.stockman/runs/",
    "/.stockman/lab.*",
    ".*.stockman-new",
)


def missing_lines(existing: bytes) -> bytes:
    """Return lines to append to a `.gitignore`. Empty: it is complete."""
    present = {line.strip().removeprefix(b"/") for line in existing.splitlines()}
    missing = [
        pattern for pattern in _PATTERNS if pattern.removeprefix("/").encode() not in present
    ]
    if not missing:
        return b""
    end = b"\r\n" if b"\r\n" in existing else b"\n"
    lines = [_HEADING.encode(), *(pattern.encode() for pattern in missing)]
    added = b"".join(line + end for line in lines)
    if not existing:
        return added
    return (end if existing.endswith(b"\n") else end * 2) + added
