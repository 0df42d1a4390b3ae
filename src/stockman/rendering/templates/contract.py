"""What both dialects promise to templates, limits of rendering, and how a template is stopped."""

from __future__ import annotations

from functools import cache

from stockman.model.origin import Position
from stockman.model.package_file import read_package_text
from stockman.model.problem import Problem
from stockman.model.record import record


@cache
def host_keys() -> tuple[str, ...]:
    """Return the lines of `known_hosts`; entries of unused servers are harmless."""
    text = read_package_text("stockman.rendering.templates", "known_hosts.txt")
    return tuple(text.splitlines())


_DIRECTORIES = {
    ".git": "git runs programs from it",
    ".stockman": "stockman stores its state of the repository there",
}
_ROOTS = ("templates", "template")
_FILES = frozenset(
    {
        ".sops.yaml",
        "age.key",
        "cloudflare-tunnel.json",
        "cluster.toml",
        "cluster.yaml",
        "deploy.key",
        "flux-webhook-token.txt",
        "github-deploy.key",
        "github-push-token.txt",
        "kubeconfig",
        "nodes.yaml",
        "talosconfig",
        "talos/proxmox-tokens.sops.yaml",
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
        why = "it is an input of rendering, or holds keys or the rules of encryption"
    if not why:
        return None
    return Problem(
        code="template.reserved",
        what=f"a template would write to {path}",
        where=origin,
        why=why,
        fix="use another path for the template",
    )


SUFFIX = ".j2"
"""Suffix of templates; removed from the names of the results."""
NOT_RENDERED = ".partial.yaml.j2"
"""Suffix of templates that are only included."""

BLOCK = ("#%", "%#")
VARIABLE = ("#{", "}#")
COMMENT = ("#|", "#|")
"""Start and end are the same."""


@record
class Contract:
    """How a dialect renders templates."""

    root: str
    """Template directory in the repository."""
    strict: bool
    """Whether an undefined name is an error; otherwise it is empty."""
    functions: tuple[str, ...]
    filters: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, str]:
        """Directories of templates; the first one with a path wins."""
        return (f"{self.root}/overrides", f"{self.root}/config")


CLASSIC = Contract(
    root="templates",
    strict=False,
    functions=(
        "age_key",
        "cloudflare_tunnel_id",
        "cloudflare_tunnel_secret",
        "github_deploy_key",
        "github_push_token",
        "talos_patches",
    ),
    filters=("basename", "nthhost"),
)
TOML = Contract(
    root="template",
    strict=True,
    functions=(
        "age_key",
        "cloudflare_tunnel_id",
        "cloudflare_tunnel_secret",
        "deploy_key",
        "webhook_token",
    ),
)


@record
class Limits:
    """Limits of rendering, as counts, so that they do not depend on the machine."""

    work_per_file: int = 2_000_000
    """Steps per file: an expression, an item of a list, or 64 characters of text."""
    work: int = 20_000_000
    """Steps for all files."""
    text: int = 4 << 20
    """Characters of one string or result."""
    items: int = 100_000
    """Items of one list."""
    bits: int = 4096
    """Bits of one number."""
    depth: int = 100
    """Nesting of templates, macros and loops."""
    source: int = 1 << 20
    """Bytes of a template."""
    code: int = 1 << 16
    """Characters of blocks and expressions in a template."""
    copied: int = 16 << 20
    """Bytes of a copied file."""
    files: int = 10_000
    """Files of a tree."""


class TemplateStopped(Exception):
    """A template was stopped."""

    def __init__(self, code: str, what: str, *, why: str, fix: str, where: str = "") -> None:
        super().__init__(what)
        self.where = where
        """Empty: the current line of the template."""
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix

    def at(self, where: Position | str) -> Problem:
        """Return the problem with its position."""
        position = self.where or where
        return Problem(code=self.code, what=self.what, why=self.why, fix=self.fix, where=position)
