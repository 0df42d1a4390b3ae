"""Paths that templates must not write, because a pull request could abuse them."""

from __future__ import annotations

from stockman.model.problem import Problem

_DIRECTORIES = {
    ".git": "git runs programs from it",
    ".stockman": "stockman stores its state of the repository there",
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
    """Return why a template must not write to a path; None: it may."""
    # Some file systems ignore case.
    names = path.casefold().split("/")
    why = next((_DIRECTORIES[name] for name in names if name in _DIRECTORIES), "")
    if names[0] in _ROOTS and len(names) > 1:
        why = "it contains templates, and the next render would read others"
    if "/".join(names) in _FILES:
        why = "it is an input of rendering"
    if not why:
        return None
    return Problem(
        code="template.reserved",
        what=f"a template would write to {path}",
        where=origin,
        why=why,
        fix="use another path for the template",
    )
