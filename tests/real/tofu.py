"""OpenTofu with the provider of bpg, at work on a served lab."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

NO_CHANGES, CHANGES = 0, 2
_OWN = Path(__file__).parent / "opentofu"
_PATIENCE = 120


class Served(Protocol):
    """A Proxmox VE that answers."""

    @property
    def endpoint(self) -> str: ...

    @property
    def token_id(self) -> str: ...

    @property
    def token_secret(self) -> str: ...

    @property
    def ca(self) -> Path: ...


class TofuFailed(AssertionError):
    """OpenTofu ended otherwise than it should."""


@dataclass(slots=True)
class Tofu:
    """One configuration in a directory of its own."""

    program: Path
    provider: Path
    folder: Path
    lab: Served
    variables: dict[str, str] = field(default_factory=dict)
    source: Path = _OWN
    """What the configuration is copied from."""

    def prepare(self) -> None:
        """Copy the configuration, and let the provider be taken from where it was built."""
        shutil.copytree(
            self.source, self.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("later")
        )
        override = f'dev_overrides {{ "bpg/proxmox" = {json.dumps(str(self.provider.parent))} }}'
        (self.folder / "cli.tfrc").write_text(
            f"provider_installation {{\n  {override}\n  direct {{}}\n}}\n"
        )

    def add(self, name: str) -> None:
        """Let the configuration have one more file."""
        shutil.copy(self.source / "later" / name, self.folder)

    def apply(self, **changed: str) -> None:
        """Make the lab what the configuration says."""
        self._run("apply", "-auto-approve", **changed)

    def destroy(self) -> None:
        """Take everything back."""
        self._run("destroy", "-auto-approve")

    def plan(self, **changed: str) -> dict[str, list[str]]:
        """What would be done to which resource; empty: nothing."""
        changes = self._changes(**changed)
        return {address: change["actions"] for address, change in changes.items()}

    def attributes(self, **changed: str) -> dict[str, dict[str, tuple[Any, Any]]]:
        """Which attributes of which resource would change: from what, and to what."""
        return {
            address: _differing(change["before"] or {}, change["after"] or {})
            for address, change in self._changes(**changed).items()
        }

    def _changes(self, **changed: str) -> dict[str, dict[str, Any]]:
        out = self.folder / "plan"
        self._run("plan", f"-out={out}", **changed)
        shown = json.loads(self._run("show", "-json", str(out)))
        return {
            resource_change["address"]: resource_change["change"]
            for resource_change in shown.get("resource_changes", [])
            if resource_change["change"]["actions"] != ["no-op"]
        }

    def no_changes(self) -> str:
        """Why a second plan would change something; empty: it would not."""
        found = self._call("plan", "-detailed-exitcode")
        return "" if found.returncode == NO_CHANGES else f"{found.stdout}{found.stderr}"

    def forget(self, address: str) -> None:
        """Leave a resource alone from now on."""
        self._run("state", "rm", address)

    def take_over(self, address: str, identity: str) -> None:
        """Import what exists already."""
        self._run("import", address, identity)

    def _run(self, *words: str, **changed: str) -> str:
        found = self._call(*words, **changed)
        if found.returncode != 0:
            raise TofuFailed(f"tofu {' '.join(words)}: {found.stdout}{found.stderr}")
        return found.stdout

    def _call(self, *words: str, **changed: str) -> subprocess.CompletedProcess[str]:
        self.variables.update(changed)
        return subprocess.run(
            [str(self.program), *words, *([] if words[0] in _BARE else ["-no-color"])],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )

    def _environment(self) -> Mapping[str, str]:
        values = {f"TF_VAR_{name}": value for name, value in self.variables.items()}
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TF_CLI_CONFIG_FILE": str(self.folder / "cli.tfrc"),
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
            "SSL_CERT_FILE": str(self.lab.ca),
            "PROXMOX_VE_ENDPOINT": self.lab.endpoint,
            "PROXMOX_VE_API_TOKEN": f"{self.lab.token_id}={self.lab.token_secret}",
            **values,
        }


_BARE = frozenset({"show", "state"})


def _differing(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = sorted(before.keys() | after.keys())
    both = {name: (before.get(name), after.get(name)) for name in names}
    return {name: values for name, values in both.items() if values[0] != values[1]}
