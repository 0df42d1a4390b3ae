"""Trees of templates for tests: written here as texts, or the two that stand beside this file."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.crypto.age.identities import age_key_pair
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.rendering.templates.contract import CLASSIC, TOML, Contract, Limits
from stockman.rendering.templates.functions import KEY_FILES
from stockman.rendering.templates.names import SecretValue, TemplateNames, template_names
from stockman.rendering.templates.render import RenderResult, TemplateInputs, render_templates
from stockman.rendering.templates.tree import TemplateFile, TemplateTree, read_tree

Files = Mapping[str, tuple[bytes, int]]
Recorded = Mapping[str, str]

HERE = Path(__file__).parent
SECRET = "hay-and-9-carrots"
TOKEN = SecretValue(name="cloudflare_token", value=Secret(SECRET))
NAMES = TemplateNames(
    values={
        "nodes": [{"name": "oak", "controller": True}, {"name": "fern", "controller": False}],
        "domain": "meadow.example",
        "cloudflare_token": TOKEN,
        "proxmox_token_secret": SecretValue(name="proxmox_token_secret", value=None),
    }
)
ENVIRONMENT = {"STOCKMAN_TEMPLATE_SHEPHERD": "Ada", "LANG": "C"}
_IDENTITY = age_key_pair(bytes(range(32)))
KEYS = {
    "age.key": f"# public key: {_IDENTITY.recipient}\n{_IDENTITY.identity.reveal()}\n",
    "cloudflare-tunnel.json": json.dumps(
        {"AccountTag": "account", "TunnelID": "tunnel-66", "TunnelSecret": "the-tunnel-secret"}
    ),
    **dict.fromkeys(
        ("deploy.key", "github-deploy.key"), "-----BEGIN-----\nabc\ndef\n-----END-----\n"
    ),
    **dict.fromkeys(("github-push-token.txt", "flux-webhook-token.txt"), "0123456789abcdef\n"),
}


def tree_of(files: Mapping[str, str], contract: Contract = CLASSIC) -> TemplateTree:
    """A tree of files that are given as texts, by their path below `config`."""
    return TemplateTree(
        contract=contract,
        inputs=(
            {},
            {
                path: TemplateFile(
                    label=f"{contract.root}/config/{path}",
                    path=path,
                    content=text.encode(),
                    mode=0o644,
                )
                for path, text in files.items()
            },
        ),
    )


def rendering_of(
    files: Mapping[str, str], contract: Contract = CLASSIC, limits: Limits | None = None
) -> RenderResult:
    """What such a tree gives."""
    key_files = {name: Secret(text) for name, text in KEYS.items()}
    sources = TemplateInputs(names=NAMES, key_files=key_files, environment=ENVIRONMENT)
    return render_templates(tree_of(files, contract), sources, limits)


def output_of(text: str, contract: Contract = CLASSIC) -> str:
    """What one template gives."""
    rendering = rendering_of({"app.yaml.j2": text}, contract)
    assert list(rendering.problems) == []
    return (rendering.files["app.yaml"].content or b"").decode()


def problem_of(
    text: str, contract: Contract = CLASSIC, limits: Limits | None = None, **others: str
) -> Problem:
    """The one problem of a template."""
    (problem,) = rendering_of({"app.yaml.j2": text, **others}, contract, limits).problems
    return problem


def workspace(directory: Path, dialect: str) -> Path:
    """One of the two trees with its files and keys, as a directory of its own."""
    top = directory / dialect
    shutil.copytree(HERE / "tree" / dialect, top)
    shutil.copy(HERE / "judge.py", top)
    for name, text in KEYS.items():
        (top / name).write_text(text)
    return top


def rendered(top: Path) -> RenderResult:
    """What stockman makes of such a directory."""
    names = ("cluster.yaml", "nodes.yaml", "cluster.toml")
    loaded = load({name: (top / name).read_bytes() for name in names if (top / name).exists()})
    assert list(loaded.problems.errors) == []
    problems = Problems()
    tree = read_tree(top, CLASSIC if loaded.classic else TOML, problems, Limits())
    assert list(problems) == []
    return render_templates(
        tree,
        TemplateInputs(
            names=template_names(loaded, resolve(loaded)),
            key_files={name: Secret((top / name).read_text()) for name in KEY_FILES},
            environment=ENVIRONMENT,
        ),
    )


def prepared(directory: Path, dialect: str) -> Path:
    """A tree with what cannot stand in a repository: permissions, links, bytes, an empty place."""
    top = workspace(directory, dialect)
    config = next(top.glob("template*")) / "config"
    (config / "script.sh.j2").write_text("#!/bin/sh\necho #{ nodes | length }#\n")
    (config / "script.sh.j2").chmod(0o755)
    (config / "private.txt").write_bytes(b"\xff\xfe raw\r\n\x00#{ x }#")
    (config / "private.txt").chmod(0o600)
    (config / "nothing" / "below").mkdir(parents=True)
    (config / "linked.yaml.j2").symlink_to("script.sh.j2")
    (config / "linked-directory").symlink_to("names")
    (config.parent / "overrides").mkdir(exist_ok=True)
    if dialect == "toml":
        loaded = load({"cluster.toml": (top / "cluster.toml").read_bytes()})
        names = plain(template_names(loaded, resolve(loaded)).values)
        (top / "names.json").write_text(json.dumps(names))
    return top


def written(rendering: RenderResult) -> Files:
    """Content and permissions of the files that a rendering has, by path."""
    return {
        path: (file.content, file.mode)
        for path, file in rendering.files.items()
        if file.content is not None
    }


def digests(files: Files) -> Recorded:
    """Permissions and SHA-256 of files, by path."""
    return {
        path: f"{mode:o} {hashlib.sha256(content).hexdigest()}"
        for path, (content, mode) in sorted(files.items())
    }


def recorded(dialect: str) -> Recorded:
    """What makejinja gave for one of the trees when it was last recorded."""
    text = (HERE / "tree" / f"{dialect}.json").read_text()
    return cast("Recorded", json.loads(text))


def judged(top: Path) -> Files:
    """What makejinja makes of it: content and permissions by path."""
    subprocess.run([sys.executable, "-m", "makejinja"], cwd=top, env=ENVIRONMENT, check=True)
    out = top / "out"
    return {
        path.relative_to(out).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def plain(value: object) -> object:
    """Names as JSON knows them, with the texts of secrets."""
    if isinstance(value, SecretValue):
        return None if value.value is None else value.value.reveal()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
