"""Rendering a directory: what is written, what is left alone, and what an interruption leaves."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stockman.adapters.system import SystemClock, SystemEntropy
from stockman.app.rendering.render import (
    NEXT_LOCK,
    RenderContext,
    Rendering,
    prepare_rendering,
    write_rendering,
)
from stockman.model.errors import StockmanError
from stockman.rendering import managed_files
from stockman.rendering.managed_files import FileAction, FileDecisions
from tests.cli.inside import ran_inside

HELM = "kubernetes/apps/default/echo/app/helmrelease.yaml"
TUNNEL_SECRET = "kubernetes/apps/network/cloudflare-tunnel/app/secret.sops.yaml"
SECRET = "kubernetes/apps/flux-system/flux-instance/app/secret.sops.yaml"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory as `init` leaves it."""
    mktemp = tmp_path_factory.mktemp("started")
    assert ran_inside("init", str(mktemp), "--preset", "three-node").status == 0
    return mktemp


@pytest.fixture
def directory(started: Path, tmp_path: Path) -> Path:
    shutil.copytree(started, tmp_path / "place")
    return tmp_path / "place"


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RenderContext:
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = {name: text for name, text in os.environ.items() if "SOPS" not in name}
    return RenderContext(environment=environment, clock=SystemClock(), entropy=SystemEntropy())


def done(directory: Path, context: RenderContext, **value: object) -> Rendering:
    rendering = prepare_rendering(directory, FileDecisions(**value), context)  # type: ignore[arg-type]  # fields of Wishes
    assert not rendering.problems.errors
    write_rendering(directory, rendering, context)
    return rendering


def files(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def acts(rendering: Rendering, *but: FileAction) -> dict[str, FileAction]:
    return {
        action.path: action.act
        for action in rendering.actions
        if action.act not in (FileAction.KEEP, *but)
    }


def test_a_second_render_changes_no_byte(directory: Path, context: RenderContext) -> None:
    done(directory, context)
    before = files(directory)

    again = done(directory, context)

    assert acts(again) == {}
    assert files(directory) == before


def test_without_an_identity_bytes_are_compared_and_that_is_said(
    directory: Path, context: RenderContext
) -> None:
    done(directory, context)
    (directory / "age.key").unlink()
    (directory / "github-push-token.txt").unlink()

    rendering = prepare_rendering(directory, FileDecisions(), context)

    assert acts(rendering) == {}
    assert SECRET in rendering.uncompared


def _with_tunnel(directory: Path) -> None:
    with (directory / "cluster.yaml").open("a") as file:
        file.write(
            "cloudflare_domain: example.com\n"
            "cloudflare_token: file:token.txt\n"
            "cloudflare_gateway_addr: 10.0.3.99\n"
        )
    text = (directory / "cluster.yaml").read_text()
    kept = [line for line in text.splitlines() if not line.startswith("cloudflare_enabled")]
    (directory / "cluster.yaml").write_text("\n".join(kept) + "\n")
    (directory / "token.txt").write_text("a token for dns")
    tunnel = {"AccountTag": "a", "TunnelID": "the-tunnel", "TunnelSecret": "s"}
    (directory / "cloudflare-tunnel.json").write_text(json.dumps(tunnel))


def test_a_tunnel_that_git_does_not_hold_is_no_leak_and_no_change(
    directory: Path, context: RenderContext
) -> None:
    _with_tunnel(directory)
    done(directory, context)
    endpoint = directory / "kubernetes/apps/network/cloudflare-tunnel/app/dnsendpoint.yaml"
    assert "the-tunnel" in endpoint.read_text()
    for name in ("age.key", "token.txt", "cloudflare-tunnel.json"):
        (directory / name).unlink()

    assert acts(prepare_rendering(directory, FileDecisions(), context)) == {}


def test_a_clone_with_the_key_goes_on_with_what_was_rendered(
    directory: Path, context: RenderContext
) -> None:
    _with_tunnel(directory)
    done(directory, context)
    before = files(directory)
    for name in ("github-push-token.txt", "github-deploy.key", "cloudflare-tunnel.json"):
        (directory / name).unlink()

    found = done(directory, context)

    assert acts(found) == {}
    assert before.items() >= files(directory).items()


def test_a_deploy_key_that_only_the_repository_has_is_the_one_that_stays(
    directory: Path, context: RenderContext
) -> None:
    text = (directory / "cluster.yaml").read_text()
    private = "repository_name: example/k8s\nrepository_visibility: private"
    (directory / "cluster.yaml").write_text(text.replace("repository_name: example/k8s", private))
    done(directory, context)
    (directory / "github-deploy.key").unlink()

    assert acts(done(directory, context)) == {}


def test_a_template_cannot_write_the_rules_of_sops(directory: Path, context: RenderContext) -> None:
    own = directory / "templates/config/.sops.yaml.j2"
    own.parent.mkdir(parents=True)
    own.write_text((directory / ".sops.yaml").read_text() + "# mine: #{ cluster_name }#\n")

    rendering = prepare_rendering(directory, FileDecisions(), context)

    assert [problem.code for problem in rendering.problems.errors] == ["template.reserved"]


def test_a_changed_secret_changes_its_file_alone(directory: Path, context: RenderContext) -> None:
    done(directory, context)
    (directory / "github-push-token.txt").write_text("another token\n")

    assert acts(done(directory, context)) == {SECRET: FileAction.UPDATE}


def test_what_was_changed_by_hand_is_kept_until_somebody_decides(
    directory: Path, context: RenderContext
) -> None:
    done(directory, context)
    (directory / HELM).write_text("mine\n")

    assert acts(done(directory, context)) == {HELM: FileAction.EDITED}
    assert (directory / HELM).read_text() == "mine\n"
    assert acts(done(directory, context, accept=frozenset({HELM}))) == {HELM: FileAction.ACCEPT}
    assert acts(done(directory, context)) == {HELM: FileAction.ACCEPTED}
    assert acts(done(directory, context, overwrite=frozenset({HELM}))) == {HELM: FileAction.UPDATE}
    assert (directory / HELM).read_text() != "mine\n"


def test_files_of_the_user_are_never_touched(directory: Path, context: RenderContext) -> None:
    mine = directory / "kubernetes/apps/default/mine/ks.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")

    done(directory, context, prune=True)

    assert mine.read_text() == "mine\n"


def test_a_component_turned_off_and_on_again_gives_the_same_bytes(
    directory: Path, context: RenderContext
) -> None:
    done(directory, context)
    before = files(directory)
    text = (directory / "cluster.yaml").read_text()
    (directory / "cluster.yaml").write_text(f"{text}components: {{echo: {{enabled: false}}}}\n")

    assert HELM in acts(done(directory, context))
    assert (directory / HELM).exists()
    done(directory, context, prune=True)
    assert not (directory / HELM).exists()
    (directory / "cluster.yaml").write_text(text)
    done(directory, context)

    assert files(directory) == before


def test_secrets_of_a_component_turned_off_and_on_again_keep_their_bytes(
    directory: Path, context: RenderContext
) -> None:
    _with_tunnel(directory)
    done(directory, context)
    before = files(directory)
    text = (directory / "cluster.yaml").read_text()
    off = "components: {cloudflare-tunnel: {enabled: false}, external-dns: {enabled: false}}\n"

    (directory / "cluster.yaml").write_text(text + off)
    removed = done(directory, context, prune=True)
    assert TUNNEL_SECRET in [change.path for change in removed.changes]
    assert not (directory / TUNNEL_SECRET).exists()
    (directory / "cluster.yaml").write_text(text)
    done(directory, context)

    assert files(directory) == before


@pytest.mark.parametrize(
    "damaged",
    [
        lambda text, mine, other: text.replace(mine, other),
        lambda text, mine, _: text.replace(mine, f"{mine}x"),
        lambda text, *_: text.replace("ENC[", "ENC[x"),
        lambda *_: "no: yaml of SOPS\n",
    ],
    ids=["for others", "for nobody", "changed", "in the clear"],
)
def test_a_kept_secret_that_is_not_as_it_was_is_made_anew(
    directory: Path, context: RenderContext, damaged: Callable[[str, str, str], str]
) -> None:
    _with_tunnel(directory)
    done(directory, context)
    kept = directory / ".stockman/removed" / TUNNEL_SECRET
    kept.parent.mkdir(parents=True)
    old = (directory / TUNNEL_SECRET).read_text()
    other = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
    recipient = re.search(r"age1\w+", old)
    assert recipient is not None
    kept.write_text(damaged(old, recipient[0], other))
    (directory / TUNNEL_SECRET).unlink()

    done(directory, context)

    text = (directory / TUNNEL_SECRET).read_text()
    assert text != old
    assert other not in text
    assert not kept.exists()


def test_an_interrupted_run_is_finished_by_the_next(
    directory: Path, context: RenderContext
) -> None:
    done(directory, context)
    (directory / "github-push-token.txt").write_text("another token\n")
    text = (directory / "cluster.yaml").read_text()
    (directory / "cluster.yaml").write_text(f"{text}components: {{spegel: {{enabled: false}}}}\n")
    rendering = prepare_rendering(directory, FileDecisions(), context)
    changed = [action for action in rendering.actions if action.act is FileAction.UPDATE]
    assert len(changed) > 1
    lock = (directory / managed_files.LOCK_PATH).read_bytes()
    write_rendering(directory, rendering, context)
    # As if it had ended after the first file: the rest is as it was, and the list of before counts.
    (directory / NEXT_LOCK).write_bytes((directory / managed_files.LOCK_PATH).read_bytes())
    (directory / managed_files.LOCK_PATH).write_bytes(lock)
    for one in changed[1:]:
        (directory / one.path).write_bytes(one.before or b"")

    again = done(directory, context)

    assert {change.path for change in again.changes} == {one.path for one in changed[1:]}
    assert again.undecided == ()
    assert not (directory / NEXT_LOCK).exists()


def test_a_template_of_the_user_wins_and_an_empty_one_removes(
    directory: Path, context: RenderContext
) -> None:
    own = directory / "templates/config/kubernetes/apps/default/echo"
    (own / "app").mkdir(parents=True)
    (own / "app/helmrelease.yaml.j2").write_text("cluster: #{ cluster_name }#\n")
    (own / "app/ocirepository.yaml.j2").write_text("#% if false %#\nx: 1\n#% endif %#\n")
    (own / "app/kustomization.yaml.j2").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n"
    )

    done(directory, context)

    assert (directory / HELM).read_text() == "cluster: k8s\n"
    assert not (directory / "kubernetes/apps/default/echo/app/ocirepository.yaml").exists()


def test_a_template_that_breaks_changes_nothing(directory: Path, context: RenderContext) -> None:
    own = directory / "templates/config/notes.txt.j2"
    own.parent.mkdir(parents=True)
    own.write_text("#{ 1 / 0 }#\n")
    before = files(directory)

    rendering = prepare_rendering(directory, FileDecisions(), context)

    assert [problem.where for problem in rendering.problems.errors]
    assert files(directory) == before


def test_a_list_of_apps_of_the_user_gets_our_entries(
    directory: Path, context: RenderContext
) -> None:
    own = directory / "kubernetes/apps/kustomization.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("# mine\nresources:\n  - ./media\n")

    done(directory, context)
    done(directory, context)

    text = own.read_text()
    assert text.startswith("# mine\nresources:\n  - ./media\n")
    assert "  - ./network\n" in text
    assert "kustomization.yaml" not in [
        path
        for path in managed_files.read_lock((directory / managed_files.LOCK_PATH).read_text())
        if path == "kubernetes/apps/kustomization.yaml"
    ]


def test_all_mistakes_of_the_configuration_are_told_at_once(
    directory: Path, context: RenderContext
) -> None:
    text = (directory / "cluster.yaml").read_text()
    (directory / "cluster.yaml").write_text(f"{text}wrong_one: 1\nwrong_two: 2\n")

    rendering = prepare_rendering(directory, FileDecisions(), context)

    assert [problem.code for problem in rendering.problems] == ["config.unknown-key"] * 2
    assert rendering.actions == ()


def test_warnings_of_the_configuration_are_told_too(
    directory: Path, context: RenderContext
) -> None:
    text = (directory / "cluster.yaml").read_text()
    (directory / "cluster.yaml").write_text(f"{text}components: {{cilium: {{version: 9.9.9}}}}\n")

    found = done(directory, context)

    assert [problem.code for problem in found.problems] == ["component.version"]


def test_a_new_file_of_a_template_has_its_rights(directory: Path, context: RenderContext) -> None:
    own = directory / "templates/config/run.sh"
    own.parent.mkdir(parents=True)
    own.write_text("echo\n")
    own.chmod(0o700)

    done(directory, context)

    assert (directory / "run.sh").stat().st_mode & 0o777 == 0o700


def test_a_template_does_not_reach_what_git_runs(directory: Path, context: RenderContext) -> None:
    own = directory / "templates/config/.git/hooks/pre-commit"
    own.parent.mkdir(parents=True)
    own.write_text("echo\n")

    rendering = prepare_rendering(directory, FileDecisions(), context)

    assert [problem.code for problem in rendering.problems.errors] == ["template.reserved"]


def test_an_own_list_of_a_namespace_is_kept_and_told(
    directory: Path, context: RenderContext
) -> None:
    path = "kubernetes/apps/default/kustomization.yaml"
    own = directory / path
    own.parent.mkdir(parents=True)
    own.write_text("resources: [./mine/ks.yaml]\n")

    found = done(directory, context)
    accepted = done(directory, context, accept=frozenset({path}))

    assert [problem.code for problem in found.problems] == ["render.namespace-taken"]
    assert acts(found, FileAction.CREATE) == {path: FileAction.FOREIGN}
    assert acts(accepted) == {path: FileAction.ACCEPT}
    assert acts(done(directory, context)) == {path: FileAction.ACCEPTED}
    assert own.read_text() == "resources: [./mine/ks.yaml]\n"


@pytest.mark.parametrize("text", [b"\xff\xfe", b'{"schema": 1, "files": {"a\\u0000b": {}}}'])
def test_a_broken_list_of_rendered_files_is_refused(
    directory: Path, context: RenderContext, text: bytes
) -> None:
    (directory / managed_files.LOCK_PATH).write_bytes(text)

    with pytest.raises(StockmanError) as caught:
        prepare_rendering(directory, FileDecisions(), context)

    assert caught.value.problem.code == "render.lock"


def test_what_cannot_be_read_stops_everything(directory: Path, context: RenderContext) -> None:
    (directory / managed_files.LOCK_PATH).mkdir()

    with pytest.raises(StockmanError) as caught:
        prepare_rendering(directory, FileDecisions(), context)

    assert caught.value.problem.code == "render.unreadable"
    assert caught.value.problem.where == managed_files.LOCK_PATH


def test_a_file_that_cannot_be_written_leaves_the_old_tree(
    directory: Path, context: RenderContext
) -> None:
    done(directory, context)
    text = (directory / "cluster.yaml").read_text()
    (directory / "cluster.yaml").write_text(f"{text}components: {{spegel: {{enabled: false}}}}\n")
    rendering = prepare_rendering(directory, FileDecisions(), context)
    # As long as a name may be: there is a file, and no room for the name of its draft.
    longest = f"talos/{'x' * 250}"
    blocked = next(action for action in rendering.actions if action.act is FileAction.UPDATE)
    blocked = replace(blocked, path=longest, act=FileAction.CREATE)
    before = files(directory)

    with pytest.raises(StockmanError) as caught:
        write_rendering(
            directory, replace(rendering, actions=(*rendering.actions, blocked)), context
        )

    assert caught.value.problem.code == "render.unwritable"
    assert caught.value.problem.where == longest
    assert "nothing was changed" in caught.value.problem.fix
    assert files(directory) == before


def test_what_an_interrupted_run_wrote_is_known_after_another_change(
    directory: Path, context: RenderContext
) -> None:
    done(directory, context)
    first = (directory / managed_files.LOCK_PATH).read_bytes()
    text = (directory / "cluster.yaml").read_text()
    (directory / "cluster.yaml").write_text(f"{text}repository: {{branch: second}}\n")
    done(directory, context)
    # As if it had ended before the list of rendered files was put in place.
    (directory / NEXT_LOCK).write_bytes((directory / managed_files.LOCK_PATH).read_bytes())
    (directory / managed_files.LOCK_PATH).write_bytes(first)
    (directory / "cluster.yaml").write_text(f"{text}repository: {{branch: third}}\n")

    again = done(directory, context)

    assert set(acts(again).values()) == {FileAction.UPDATE}
    assert again.undecided == ()


def test_nothing_is_rendered_without_the_secrets_bundle(
    directory: Path, context: RenderContext
) -> None:
    shutil.rmtree(directory / "talos")

    with pytest.raises(StockmanError) as caught:
        prepare_rendering(directory, FileDecisions(), context)

    assert caught.value.problem.code == "bundle.absent"


def test_a_link_out_of_the_tree_is_refused(
    directory: Path, context: RenderContext, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (directory / "kubernetes").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StockmanError) as caught:
        prepare_rendering(directory, FileDecisions(), context)

    assert caught.value.problem.code == "render.out-of-tree"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_no_secret_stands_in_a_plain_file(directory: Path, context: RenderContext) -> None:
    canary = "canary-5b1d8c77"
    (directory / "github-push-token.txt").write_text(canary)
    done(directory, context)

    held = [name for name, content in files(directory).items() if canary.encode() in content]

    assert held == ["github-push-token.txt"]


def test_bytes_depend_on_nothing_but_the_files(started: Path, tmp_path: Path) -> None:
    contents = []
    for number, more in enumerate(
        (
            {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
            {"PYTHONHASHSEED": "77", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
        )
    ):
        path = tmp_path / str(number)
        shutil.copytree(started, path)
        done = subprocess.run(
            [sys.executable, "-m", "stockman", "-C", path, "render", "-q"],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "PYTHONPATH": os.pathsep.join(sys.path),
                **more,
            },
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        contents.append(
            {
                name: content
                for name, content in files(path).items()
                if ".sops." not in name and not name.startswith(".stockman/")
            }
        )

    assert contents[0] == contents[1]
