"""Settings of makejinja in each dialect of cluster-template, and limits of rendering."""

from __future__ import annotations

from stockman.model.record import record

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
