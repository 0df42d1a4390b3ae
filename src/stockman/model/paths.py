"""Which step from one version to another is allowed: one line at a time, never back."""

from __future__ import annotations

from stockman.model.support import Fit, Verdict
from stockman.model.version import Version


def upgrade_fits(product: str, running: Version, wanted: Version) -> Fit:
    """Whether one upgrade may go from what runs to what is wanted."""
    if wanted == running:
        return Fit(verdict=Verdict.OK, because=f"{product} {running} runs already")
    if wanted < running:
        return Fit(
            verdict=Verdict.REFUSED,
            because=f"{product} would go back from {running} to {wanted}",
        )
    if wanted.major != running.major or wanted.line[1] - running.line[1] > 1:
        return Fit(
            verdict=Verdict.REFUSED,
            because=f"{product} goes from one line to the next, and {wanted.minor_text}"
            f" does not follow {running.minor_text}",
        )
    return Fit(verdict=Verdict.OK, because=f"{wanted} follows {running}")
