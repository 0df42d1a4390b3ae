"""Both clusters at once, and kubectl as the administrator of each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from subprocess import Popen, run

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from stockman.adapters.system import SystemClock
from tests.real.kubectl.authority import Authority
from tests.real.kubectl.lab_cluster import lab_cluster
from tests.real.kubectl.real_cluster import real_cluster
from tools.pytest_plugin import RealTool

_PATIENCE = 60.0


@dataclass(frozen=True)
class Said:
    """What kubectl printed, and how it ended."""

    code: int
    output: str
    errors: str


@dataclass(frozen=True)
class Watch:
    """A kubectl that goes on, and the files that it writes to."""

    process: Popen[bytes]
    output: Path
    errors: Path

    def so_far(self) -> Said:
        """What it has printed up to now."""
        return Said(0, self.output.read_text(), self.errors.read_text())

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


@dataclass(frozen=True)
class Side:
    """One cluster, and kubectl in one of its namespaces."""

    name: str
    program: Path
    config: Path
    place: Path
    """The working directory, with the files that commands name."""
    memory: Path | None = None
    """Where kubectl keeps which kinds there are. None: at its usual place."""

    def within(self, space: str, place: Path) -> Side:
        """The same in a namespace, with files of its own."""
        config = json.loads(self.config.read_text())
        config["contexts"][0]["context"]["namespace"] = space
        path = self.config.with_name(f"{self.name}-{space}.kubeconfig")
        path.write_text(json.dumps(config))
        return replace(self, config=path, place=place)

    def forgetful(self) -> Side:
        """The same, of which kubectl remembers no kinds: those may be gone by now."""
        memory = self.config.with_suffix(".memory")
        rmtree(memory, ignore_errors=True)
        return replace(self, memory=memory)

    def ask(self, *arguments: str, text: str = "", editor: str = "") -> Said:
        """What a command says."""
        found = run(
            [self.program, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
            cwd=self.place,
            env=self._surroundings(editor),
        )
        return Said(found.returncode, found.stdout, found.stderr)

    def begin(self, number: int, *arguments: str) -> Watch:
        """A command that does not end by itself."""
        files = [self.config.with_suffix(f".{number}.{name}") for name in ("output", "errors")]
        with files[0].open("w") as output, files[1].open("w") as errors:
            process = Popen(
                [self.program, *arguments],
                stdout=output,
                stderr=errors,
                cwd=self.place,
                env=self._surroundings(""),
            )
        return Watch(process, *files)

    def _surroundings(self, editor: str) -> dict[str, str]:
        kept = {} if self.memory is None else {"KUBECACHEDIR": str(self.memory)}
        return {
            **kept,
            "PATH": os.environ["PATH"],
            "HOME": str(self.config.parent / f"home-{self.name}"),
            "KUBECONFIG": str(self.config),
            "KUBE_EDITOR": editor,
            "KUBECTL_APPLYSET": "true",
        }


@contextmanager
def both_clusters(place: Path, real_tool: RealTool) -> Iterator[tuple[Side, Side]]:
    """The real cluster and the one of the lab while they run."""
    authority = Authority(place)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    account_key = place / "sa.key"
    account_key.write_bytes(text)
    with ExitStack() as stack:
        real = stack.enter_context(real_cluster(place, authority, account_key, real_tool))
        now = SystemClock().now().timestamp()
        lab, _ = stack.enter_context(lab_cluster(place, authority, text.decode(), now))
        yield (
            _side("real", real, authority, real_tool("kubectl")),
            _side("lab", lab, authority, real_tool("kubectl")),
        )


def _side(name: str, address: str, authority: Authority, kubectl: Path) -> Side:
    config = authority.place / f"{name}.kubeconfig"
    config.write_text(authority.kubeconfig(address), "ascii")
    return Side(name, kubectl, config, authority.place)
