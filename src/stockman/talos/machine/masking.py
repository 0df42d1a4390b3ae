"""Mask secrets of machine configurations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.desired import Desired
from stockman.model.secret import MASK, Secret, SecretForm, find_secrets
from stockman.talos.machine.origins import bundle_value_names
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree
from stockman.talos.secrets.bundle import SecretsBundle

_CONFIDENTIAL = frozenset(
    {
        "aescbcEncryptionSecret",
        "apiToken",
        "auth",
        "clusterSecret",
        "identityToken",
        "passphrase",
        "password",
        "presharedKey",
        "privateKey",
        "secret",
        "secretboxEncryptionSecret",
        "token",
        "uniqueToken",
    }
)
"""Names of fields that Talos masks, in any document."""
_HEADERS = frozenset({"extraManifestHeaders", "headers"})
"""Mappings where every value may be a credential."""
_CERTIFICATES = frozenset({"crt", "cert"})
_JOIN_TOKEN = "jointoken="
_SHORTEST = 8
"""Shorter secrets are only masked as a whole value: they could be part of any word."""
_PUBLIC = ("cluster.id", ".crt")


class SecretMask:
    """Masks secrets of one cluster: typed secrets, fields that Talos masks, and known values."""

    def __init__(self, known: Iterable[Secret], files: Iterable[str] = ()) -> None:
        """`files`: all values from these files are confidential."""
        texts = {secret.reveal() for secret in known if secret.form is SecretForm.LITERAL}
        self._known = texts - {""}
        self._files = frozenset(files)
        pieces = {line for text in texts for line in (text, text.strip())}
        self._long = sorted(
            (piece for piece in pieces if len(piece) >= _SHORTEST), key=len, reverse=True
        )

    def mask(self, document: Branch) -> Branch:
        """Return a document with `***` for everything confidential; origins are kept."""
        return self._branch(document, "")

    def line(self, text: str) -> str:
        """Return a text without any known secret."""
        for secret in self._long:
            text = text.replace(secret, MASK)
        return text

    def _branch(self, branch: Branch, key: str) -> Branch:
        has_certificate = bool(_CERTIFICATES & branch.keys()) or key == "serviceAccount"
        entries: dict[str, Tree] = {}
        for name, item in branch.items():
            hidden = name in _CONFIDENTIAL or key in _HEADERS
            hidden = hidden or (name == "key" and has_certificate)
            entries[name] = self._tree(item, name, hidden=hidden)
        return Branch(branch.origin, entries)

    def _tree(self, tree: Tree, key: str, *, hidden: bool) -> Tree:
        if isinstance(tree, Branch):
            return self._branch(tree, key)
        if isinstance(tree, Items):
            items = [self._tree(item, key, hidden=hidden) for item in tree]
            return Items(tree.origin, items)
        return self._leaf(tree, hidden=hidden)

    def _leaf(self, leaf: Leaf, *, hidden: bool) -> Leaf:
        value = leaf.value
        if isinstance(value, Secret) or leaf.origin.at.file in self._files:
            return Leaf(MASK, leaf.origin)
        if not isinstance(value, str) or not value:
            return leaf
        if hidden or value in self._known or _JOIN_TOKEN in value:
            return Leaf(MASK, leaf.origin)
        return Leaf(self.line(value), leaf.origin)


def list_secrets(desired: Desired, bundle: SecretsBundle) -> Iterator[Secret]:
    """Yield every secret that a configuration may contain."""
    for text, name in bundle_value_names(bundle).items():
        if not name.endswith(_PUBLIC):
            yield Secret(text)
    yield from (secret for _, secret in find_secrets(desired))
