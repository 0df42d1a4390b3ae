"""`.sops.yaml`: which files are encrypted, for which recipients, and which of their values."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.language import Dialect
from stockman.config.secret_keys import secret_key_regex
from stockman.rendering.tree import REPOSITORY, RenderedFile

SOPS_CONFIG = ".sops.yaml"

_HEAD = """\
# Which files are encrypted, for whom, and what of them. The first rule whose path_regex matches
# counts. After a change of recipients run `stockman secrets rekey`.
creation_rules:
"""
_PARTLY = """\
  # The configuration stays readable: only values of keys that hold secrets are encrypted.
  - path_regex: ^(cluster|nodes)\\.yaml$
    encrypted_regex: {regex}
    mac_only_encrypted: true
    age: {recipient}
"""
_REST = """\
  # What the machines are made of.
  - path_regex: talos/.*\\.sops\\.ya?ml
    mac_only_encrypted: true
    age: {recipient}
  # Secrets of Kubernetes: names and labels stay readable.
  - path_regex: (bootstrap|kubernetes)/.*\\.sops\\.ya?ml
    encrypted_regex: ^(data|stringData)$
    mac_only_encrypted: true
    age: {recipient}
stores:
  yaml:
    indent: 2
"""


def sops_config_text(dialect: Dialect, recipient: str) -> str:
    """Return the rules for one recipient, or several separated by commas.

    There is no rule for cluster.toml: SOPS does not support TOML.
    """
    partly = _PARTLY.format(regex=secret_key_regex(), recipient=recipient)
    return _HEAD + (partly if dialect == "classic" else "") + _REST.format(recipient=recipient)


def sops_rules_file(dialect: Dialect, recipient: str) -> Iterator[RenderedFile]:
    """Return the file; none without a recipient."""
    if recipient:
        text = sops_config_text(dialect, recipient)
        yield RenderedFile(path=SOPS_CONFIG, owner=REPOSITORY, text=text)
