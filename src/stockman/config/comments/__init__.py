"""Comments of YAML and TOML texts, and the keys and items that they belong to."""

from __future__ import annotations

from stockman.config.comments.attach import Comments, attach_comments
from stockman.config.comments.find import find_toml_comments, find_yaml_comments
from stockman.config.source.tree import MappingNode

__all__ = ["Comments", "comments_of_toml", "comments_of_yaml"]


def read_yaml_comments(text: str, tree: MappingNode) -> Comments:
    """The comments of a YAML text that was read as `tree`."""
    return attach_comments(find_yaml_comments(text), tree, indented=True)


def read_toml_comments(text: str, tree: MappingNode) -> Comments:
    """The comments of a TOML text that was read as `tree`."""
    return attach_comments(find_toml_comments(text), tree, indented=False)
