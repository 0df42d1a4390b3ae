"""Problems of repositories, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stockman.model.problem import Problem, Severity
from stockman.ports import repository_errors as refusals

_REJECTED = "the remote replies [rejected] (fetch first)"
_HOOK = "the remote replies [remote rejected] (pre-receive hook declined)"

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "repo.below": lambda: refusals.not_top_directory("clusters/home").problem,
    "repo.other-branch": lambda: refusals.other_branch("master", "main").problem,
    "repo.other-remote": lambda: replace(
        refusals.other_remote("github.com/me/home-ops", "github.com/example/k8s").problem,
        severity=Severity.WARNING,
    ),
    "repo.placeholder": lambda: (
        refusals.placeholder_repository("github.com/me/home-ops", "github.com/example/k8s").problem
    ),
    "repo.no-key": lambda: refusals.missing_key_file("github-deploy.key or deploy.key").problem,
    "repo.behind": lambda: refusals.remote_ahead("origin main", _REJECTED).problem,
    "repo.denied": lambda: (
        refusals.remote_access_error(
            "origin main",
            "could not read Username for 'https://git.test': terminal prompts disabled",
        ).problem
    ),
    "repo.detached": lambda: refusals.detached_head_error("home-ops").problem,
    "repo.identity": lambda: refusals.missing_identity().problem,
    "repo.moved": lambda: refusals.concurrent_commit("main").problem,
    "repo.no-commit": lambda: refusals.unknown_commit("v1.0:cluster.yaml").problem,
    "repo.no-git": lambda: refusals.git_missing().problem,
    "repo.no-remote": lambda: refusals.missing_remote("it has no remote").problem,
    "repo.none": lambda: refusals.not_a_repository("home-ops").problem,
    "repo.path": lambda: refusals.invalid_path("age.key", "it is ignored by git").problem,
    "repo.rejected": lambda: refusals.git_error("origin main", _HOOK).problem,
    "repo.remote-missing": lambda: (
        refusals.missing_remote_repository(
            "origin main", "repository 'https://git.test/home-ops.git/' not found"
        ).problem
    ),
    "repo.unfinished": lambda: refusals.unfinished_operation("merge").problem,
    "repo.unreachable": lambda: (
        refusals.unreachable_remote(
            "origin main", "unable to access 'https://git.test/home-ops.git/': Couldn't connect"
        ).problem
    ),
}
