"""Comments of YAML and TOML texts, and the keys and items that they belong to."""

from __future__ import annotations

from stockman.config.comments.attach import Comments, attached
from stockman.config.comments.find import toml_comments, yaml_comments
from stockman.config.source.tree import Mapping

__all__ = ["Comments", "comments_of_toml", "comments_of_yaml"]


def comments_of_yaml(text: str, tree: Mapping) -> Comments:
    """The comments of a YAML text that was read as `tree`."""
    return attached(yaml_comments(text), tree, indented=True)


def comments_of_toml(text: str, tree: Mapping) -> Comments:
    """The comments of a TOML text that was read as `tree`."""
    return attached(toml_comments(text), tree, indented=False)
