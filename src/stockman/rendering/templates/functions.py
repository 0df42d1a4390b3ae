"""Functions and filters of cluster-template, which read from the given files."""

from __future__ import annotations

import base64
import ipaddress
import json
from collections.abc import Callable, Mapping
from functools import update_wrapper
from pathlib import PurePosixPath

from stockman.model.pattern import pattern
from stockman.model.secret import Secret
from stockman.rendering.templates.contract import SUFFIX, Contract, TemplateStopped
from stockman.rendering.templates.secret_text import mark_secret
from stockman.rendering.templates.tree import TemplateTree

_PUBLIC = pattern(r"# public key: (age1\w+)")
_PRIVATE = pattern(r"(AGE-SECRET-KEY-(?:PQ-)?1\w+)")
_TUNNEL_FILE = "cloudflare-tunnel.json"
_TUNNEL = ("AccountTag", "TunnelID", "TunnelSecret")
_WHOLE_FILES = {
    "github_deploy_key": "github-deploy.key",
    "github_push_token": "github-push-token.txt",
    "deploy_key": "deploy.key",
    "webhook_token": "flux-webhook-token.txt",
}
"""Functions that return a whole file, and the file that they read by default."""
KEY_FILES = ("age.key", _TUNNEL_FILE, *_WHOLE_FILES.values())
"""Files that all functions read by default."""


class Functions:
    """The functions of templates, and the secrets they returned."""

    def __init__(
        self, contract: Contract, tree: TemplateTree, key_files: Mapping[str, Secret]
    ) -> None:
        self._contract = contract
        self._tree = tree
        self._key_files = key_files
        self.given: dict[str, Secret] = {}
        """Secrets that were returned, by call."""

    def by_name(self) -> dict[str, Callable[..., object]]:
        """Return the functions of the dialect."""
        known: dict[str, Callable[..., object]] = {
            "age_key": self._age_key,
            "cloudflare_tunnel_id": self._tunnel_id,
            "cloudflare_tunnel_secret": self._tunnel_secret,
            "talos_patches": self._talos_patches,
        }
        known |= {name: self._reader(name, file) for name, file in _WHOLE_FILES.items()}
        # Templates may call plain functions only, not methods.
        return {name: _as_function(known[name]) for name in self._contract.functions}

    def _reveal(self, name: str, text: str) -> str:
        self.given[name] = Secret(text)
        return mark_secret(text, frozenset({name}))

    def _read(self, file_path: str) -> str:
        file = self._key_files.get(str(PurePosixPath(file_path)))
        if file is None:
            raise _key_file(
                f"{file_path} is missing",
                why="a template uses its content",
                fix=(
                    "create it with `stockman init`, or copy your own to the root of the repository"
                ),
            )
        text = file.reveal().strip()
        if not text:
            raise _key_file(
                f"{file_path} is empty",
                why="a template uses its content",
                fix=f"remove it and create a new one with `stockman init`, or fill in {file_path}",
            )
        return text

    def _reader(self, name: str, default: str) -> Callable[..., str]:
        def read_whole(file_path: str = default) -> str:
            return self._reveal(f"{name}()", self._read(file_path))

        return read_whole

    def _age_key(self, key_type: str, file_path: str = "age.key") -> str:
        if key_type not in ("public", "private"):
            raise ValueError("age_key supports 'public' and 'private'")
        line = _PUBLIC if key_type == "public" else _PRIVATE
        match = line.search(self._read(file_path))
        if match is None:
            raise _key_file(
                f"{file_path} has no {key_type} key",
                why="it must contain `# public key: age1...` and `AGE-SECRET-KEY-1...`",
                fix=f"use {file_path} as written by age-keygen or `stockman init`",
            )
        return match[1] if key_type == "public" else self._reveal("age_key('private')", match[1])

    def _tunnel(self, file_path: str) -> dict[str, str]:
        try:
            tunnel = json.loads(self._read(file_path))
        except ValueError:
            tunnel = None
        if not isinstance(tunnel, dict):
            raise _key_file(
                f"{file_path} is not a JSON object",
                why="it must be the file that cloudflared writes for a tunnel",
                fix="create it again with `cloudflared tunnel create`",
            )
        return tunnel

    def _tunnel_value(self, tunnel: Mapping[str, object], key: str, file_path: str) -> str:
        value = tunnel.get(key)
        if not isinstance(value, str) or not value:
            raise _key_file(
                f"{file_path} has no {key}",
                why="it must be the file that cloudflared writes for a tunnel",
                fix="create it again with `cloudflared tunnel create`",
            )
        return value

    def _tunnel_id(self, file_path: str = _TUNNEL_FILE) -> str:
        return self._tunnel_value(self._tunnel(file_path), "TunnelID", file_path)

    def _tunnel_secret(self, file_path: str = _TUNNEL_FILE) -> str:
        tunnel = self._tunnel(file_path)
        account, name, secret = (self._tunnel_value(tunnel, key, file_path) for key in _TUNNEL)
        token = json.dumps({"a": account, "t": name, "s": secret}, separators=(",", ":"))
        self.given["TunnelSecret"] = Secret(secret)
        text = base64.b64encode(token.encode()).decode()
        return self._reveal("cloudflare_tunnel_secret()", text)

    def _talos_patches(self, value: str) -> list[str]:
        *_, config = self._tree.inputs
        below = f"talos/patches/{value}/"
        patches = (
            file.label
            for path, file in config.items()
            if path.startswith(below)
            and "/" not in path.removeprefix(below)
            and path.endswith(f".yaml{SUFFIX}")
        )
        return sorted(patches, key=PurePosixPath)


def _as_function(method: Callable[..., object]) -> Callable[..., object]:
    def function(*arguments: object, **named: object) -> object:
        return method(*arguments, **named)

    return update_wrapper(function, method)


def basename(value: str) -> str:
    """Return the last part of a path without its last suffix."""
    return PurePosixPath(value).stem


def nthhost(value: str, query: int) -> str | bool:
    """Return the n-th address of a network, False if the network is too small."""
    try:
        network = ipaddress.ip_network(value, strict=False)
        if 0 <= query < network.num_addresses:
            return str(network[query])
    except ValueError:
        pass
    return False


FILTERS: Mapping[str, Callable[..., object]] = {"basename": basename, "nthhost": nthhost}


def _key_file(summary: str, *, why: str, fix: str) -> TemplateStopped:
    return TemplateStopped(code="template.key-file", what=summary, why=why, fix=fix)
