"""Writes the page of what the Kubernetes of the lab does, kind by kind, and in what it differs.

    python -m scripts.write_lab_kubernetes_page

It is made from the kinds that the lab serves, from its controllers, and from the commands that
kubectl is given in the lab and in a real cluster.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.registry import CONTROLLERS
from stockman_lab.kube.nodes.kubelet import Kubelets
from stockman_lab.kube.nodes.scheduler import Scheduler
from stockman_lab.kube.nodes.setup import NodeSetup
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.types import Types

from docs._ext.markdown import code, page, table
from tests.real.kubectl.explained import OF_THE_LAB, OF_THE_OTHER_SIDE, Explained
from tests.real.kubectl.simulated import ACTED, NOT_DONE, STORED
from tests.real.kubectl.stories.all import STORIES
from tests.real.kubectl.story import Command, Story

PLACE = Path(__file__).parents[1] / "docs/reference/lab-kubernetes.md"
_NODES: tuple[type[Controller], ...] = (Scheduler, Kubelets, NodeSetup)
_KIND = re.compile(r"^kind: (\w+)|\bkind: (\w+)", re.MULTILINE)


def text() -> str:
    """The page."""
    commands = sum(len(list(one.commands)) for one in STORIES)
    short = sum(len(list(one.commands)) for one in STORIES if not one.long)
    return page(
        "# Kubernetes of the lab",
        "",
        "What the simulated Kubernetes does with each kind, and in what it differs from a real",
        "one. This page is written by `scripts/write_lab_kubernetes_page.py`; a test holds it to",
        "what the lab serves.",
        "",
        "## How it is judged",
        "",
        f"The real kubectl gives {commands} commands to the lab and to a real cluster: etcd,",
        "kube-apiserver, kube-controller-manager and kube-scheduler 1.36.3, with kwok as the",
        f"kubelet of the same nodes; {short} of them in `make real`, the others in `make soak`.",
        "Output, errors and exit codes have to be the same, but for what is different each time:",
        "moments and ages, ids, versions, hashes and random names, addresses that are handed out,",
        "which of two equal nodes a pod is on. What still differs stands below, with its reason.",
        "",
        table(("Story", "Commands", "Told by"), _stories()),
        "## What differs",
        "",
        table(("Matter", "Why"), _explained(OF_THE_LAB)),
        "What is not simulated at all:",
        "",
        table(("Matter", "What happens"), NOT_DONE),
        "## What differs because of kwok",
        "",
        "The other side is not quite a real cluster either:",
        "",
        table(("Matter", "Why"), _explained(OF_THE_OTHER_SIDE)),
        "## Kinds",
        "",
        "All kinds of Kubernetes 1.36 are served, with the verbs that a real server has for them,",
        "and those of CustomResourceDefinitions. *Looked after by* names the controllers of the",
        "lab that act on objects of a kind; *commands* counts those of the stories that are about",
        "it.",
        "",
        table(("Kind", "API", "What is done", "Looked after by", "Commands"), _kinds()),
    )


def _stories() -> Iterator[tuple[str, ...]]:
    for one in STORIES:
        where = "make soak" if one.long else "make real"
        yield one.name, str(len(list(one.commands))), code(where)


def _explained(found: tuple[Explained, ...]) -> Iterator[tuple[str, ...]]:
    for one in found:
        yield one.name, one.reason


def _kinds() -> Iterator[tuple[str, ...]]:
    resources = _newest()
    counts = _counts(resources)
    acting = _acting()
    for one in resources:
        by = ", ".join(acting.get(one.plural, ()))
        done = ACTED.get(one.plural) or ("as its controllers do" if by else STORED)
        count = counts[one.qualified]
        yield one.kind, code(one.api_version), done, by, str(count) if count else ""


def _newest() -> list[Resource]:
    """Every kind once, in the version that its group prefers."""
    found: dict[tuple[str, str], Resource] = {}
    types = Types.of_server()
    order = {one.name: one.versions for one in types.groups()}
    for one in types.resources():
        known = found.get((one.group, one.plural))
        versions = order[one.group]
        if known is None or versions.index(one.version) < versions.index(known.version):
            found[one.group, one.plural] = one
    return sorted(found.values(), key=lambda one: (one.group, one.kind))


def _acting() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in (*CONTROLLERS, *_NODES):
        for plural in one.watches:
            found.setdefault(plural, []).append(one.name)
    found.setdefault("resourcequotas", []).append("resourcequota")
    return found


def _counts(resources: list[Resource]) -> Counter[str]:
    by_name = {
        name: one.qualified
        for one in reversed(resources)
        for name in (one.plural, one.singular, one.qualified, *one.short_names)
    }
    by_kind = {one.kind: one.qualified for one in reversed(resources)}
    found: Counter[str] = Counter()
    for story in STORIES:
        for command in story.commands:
            found.update(_named(command, by_name) | _in_files(story, command, by_kind))
    return found


def _named(command: Command, by_name: dict[str, str]) -> set[str]:
    words = [one for one in command.words[1:] if not one.startswith("-")]
    head = {"create", "rollout", "set", "auth", "certificate", "apply"}
    known = words[: 3 if command.verb in head else 1]
    parts = {part for word in known for part in re.split(r"[,/]", word)}
    if command.verb in {"drain", "cordon", "uncordon", "taint", "top"}:
        parts.add("nodes")
    if command.verb in {"run", "logs", "exec", "attach", "port-forward", "cp"}:
        parts.add("pods")
    if "all" in parts:
        parts |= {"pods", "services", "deployments", "replicasets"}
    return {by_name[one] for one in parts if one in by_name}


def _in_files(story: Story, command: Command, by_kind: dict[str, str]) -> set[str]:
    found = set()
    for flag, name in zip(command.words, command.words[1:], strict=False):
        if flag not in {"-f", "-k"}:
            continue
        for path, content in story.files.items():
            if path == name or path.startswith(f"{name}/"):
                kinds = {one or other for one, other in _KIND.findall(content)}
                found |= {by_kind[one] for one in kinds if one in by_kind}
    return found


if __name__ == "__main__":
    PLACE.write_text(text(), "utf-8")
