"""Problems of repositories, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stockman.model.problem import Problem, Severity
from stockman.ports import repo_refusals as refusals

_REJECTED = "the remote answers [rejected] (fetch first)"
_HOOK = "the remote answers [remote rejected] (pre-receive hook declined)"

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "repo.below": lambda: refusals.below_the_top("clusters/home").problem,
    "repo.other-branch": lambda: refusals.other_branch("master", "main").problem,
    "repo.other-remote": lambda: replace(
        refusals.other_remote("github.com/me/home-ops", "github.com/example/k8s").problem,
        severity=Severity.WARNING,
    ),
    "repo.behind": lambda: refusals.behind("origin main", _REJECTED).problem,
    "repo.denied": lambda: (
        refusals.denied(
            "origin main",
            "could not read Username for 'https://git.test': terminal prompts disabled",
        ).problem
    ),
    "repo.detached": lambda: refusals.detached("home-ops").problem,
    "repo.identity": lambda: refusals.no_identity().problem,
    "repo.moved": lambda: refusals.moved("main").problem,
    "repo.no-commit": lambda: refusals.no_commit("v1.0:cluster.yaml").problem,
    "repo.no-git": lambda: refusals.no_git().problem,
    "repo.no-remote": lambda: refusals.no_remote("it has none at all").problem,
    "repo.none": lambda: refusals.no_repository("home-ops").problem,
    "repo.path": lambda: (
        refusals.bad_path("age.key", "it is ignored, so it is not for everybody to see").problem
    ),
    "repo.rejected": lambda: refusals.rejected("origin main", _HOOK).problem,
    "repo.remote-missing": lambda: (
        refusals.no_remote_repository(
            "origin main", "repository 'https://git.test/home-ops.git/' not found"
        ).problem
    ),
    "repo.unfinished": lambda: refusals.unfinished("merge").problem,
    "repo.unreachable": lambda: (
        refusals.unreachable(
            "origin main", "unable to access 'https://git.test/home-ops.git/': Couldn't connect"
        ).problem
    ),
}
