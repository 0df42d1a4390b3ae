"""What cluster-template tells makejinja in each dialect, and what stockman bounds besides."""

from __future__ import annotations

from stockman.model.record import record

SUFFIX = ".j2"
"""Of templates; it is dropped from the names of their results."""
NOT_RENDERED = ".partial.yaml.j2"
"""How names of templates end that are there to be included only."""

BLOCK = ("#%", "%#")
VARIABLE = ("#{", "}#")
COMMENT = ("#|", "#|")
"""Start and end are the same text."""


@record
class Contract:
    """How one dialect renders templates."""

    root: str
    """Directory of the templates, from the top of the repository."""
    strict: bool
    """Whether the use of a name that nothing defines is an error; otherwise it is empty text."""
    functions: tuple[str, ...]
    filters: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, str]:
        """Where templates are looked for: the first that has a path gives the file."""
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
    """Where rendering stops. All are counts, so that every machine stops at the same place."""

    work_per_file: int = 2_000_000
    """Steps for one file: an expression, an item of a list, 64 characters of text."""
    work: int = 20_000_000
    """Steps for all files."""
    text: int = 4 << 20
    """Characters of one text, and of one result."""
    items: int = 100_000
    """Items of one list."""
    bits: int = 4096
    """Bits of one number."""
    depth: int = 100
    """Templates, macros and loops inside each other."""
    source: int = 1 << 20
    """Bytes of a template."""
    code: int = 1 << 16
    """Characters of a template that are no plain text, but blocks and values."""
    copied: int = 16 << 20
    """Bytes of a file that is copied."""
    files: int = 10_000
    """Files of a tree."""
