"""Comments in YAML and TOML files, and the keys and items that they belong to."""

from __future__ import annotations

from stockman.config.comments.attach import Comments, attach_comments
from stockman.config.comments.find import find_toml_comments, find_yaml_comments
from stockman.config.source.tree import MappingNode

__all__ = ["Comments", "read_toml_comments", "read_yaml_comments"]


def read_yaml_comments(text: str, tree: MappingNode) -> Comments:
    """Return the comments of a YAML text with the given tree."""
    return attach_comments(find_yaml_comments(text), tree, indented=True)


def read_toml_comments(text: str, tree: MappingNode) -> Comments:
    """Return the comments of a TOML text with the given tree."""
    return attach_comments(find_toml_comments(text), tree, indented=False)
