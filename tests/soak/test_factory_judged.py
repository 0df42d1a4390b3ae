"""The registry of the lab is judged by helm."""

from __future__ import annotations

from pathlib import Path

from stockman_lab.world.world import World

from tests.real.images_open import serve_images
from tests.real.test_factory_judged import run
from tools.pytest_plugin import RealTool


def test_helm_pushes_and_pulls_a_chart(real_tool: RealTool, tmp_path: Path) -> None:
    helm, target = real_tool("helm"), tmp_path / "target"
    target.mkdir()
    run(helm, "create", tmp_path / "demo")
    run(helm, "package", tmp_path / "demo", "-d", tmp_path)

    with serve_images(World.new()) as host:
        run(helm, "push", tmp_path / "demo-0.1.0.tgz", f"oci://{host}/charts", "--plain-http")
        shown = run(helm, "show", "chart", f"oci://{host}/charts/demo", "--plain-http")
        run(helm, "pull", f"oci://{host}/charts/demo", "--plain-http", "-d", target)

    assert "version: 0.1.0" in shown
    assert (target / "demo-0.1.0.tgz").read_bytes() == (tmp_path / "demo-0.1.0.tgz").read_bytes()
