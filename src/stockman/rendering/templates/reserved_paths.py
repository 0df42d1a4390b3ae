"""Paths at which no template may write: a pull request would gain more than a rendered file."""

from __future__ import annotations

from stockman.model.problem import Problem

_DIRECTORIES = {
    ".git": "git runs programs that it finds there",
    ".stockman": "stockman keeps there what it knows of this repository",
}
_ROOTS = ("templates", "template")
_FILES = frozenset(
    {
        "age.key",
        "cloudflare-tunnel.json",
        "cluster.toml",
        "cluster.yaml",
        "deploy.key",
        "flux-webhook-token.txt",
        "github-deploy.key",
        "github-push-token.txt",
        "nodes.yaml",
        "talos/secrets.sops.yaml",
        "talos/talsecret.sops.yaml",
    }
)


def forbidden_path_reason(path: str, origin: str) -> Problem | None:
    """Why a template must not write there; None: it may."""
    # Some file systems take both cases for one.
    parts = path.casefold().split("/")
    why = next((_DIRECTORIES[part] for part in parts if part in _DIRECTORIES), "")
    if parts[0] in _ROOTS and len(parts) > 1:
        why = "templates stand there, and the next render would see others"
    if "/".join(parts) in _FILES:
        why = "the file is what rendering starts from"
    if not why:
        return None
    return Problem(
        code="template.reserved",
        what=f"a template would write {path}",
        where=origin,
        why=why,
        fix="give the template another path",
    )
