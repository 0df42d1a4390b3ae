"""What stops a build."""

from __future__ import annotations


class BuildFailure(Exception):
    """Nothing can be built; the text is that of kustomize, or says what the lab does not do."""


def not_modelled(what: str) -> BuildFailure:
    """Something that kustomize does and the lab does not."""
    return BuildFailure(f"{what} is not simulated by the lab")
