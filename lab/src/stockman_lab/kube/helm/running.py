"""The `helm` program in a container: `helm upgrade --install`, and what it prints."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NoReturn

from stockman_lab.kube.helm import chart as charts
from stockman_lab.kube.helm.chart import Chart
from stockman_lab.kube.helm.engine import Helm, HelmFailed, ReleaseSpec
from stockman_lab.kube.helm.release import Release
from stockman_lab.kube.helm.values import BadValues, merged, read_values, set_values
from stockman_lab.kube.objects import Object, metadata_of

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


class Ended(Exception):
    """The program ends with an error: what it says last."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Ended(f"Error: {message}")


def _parser() -> _Parser:
    parser = _Parser(prog="helm", add_help=False, allow_abbrev=False)
    parser.add_argument("command", choices=["upgrade"])
    parser.add_argument("release")
    parser.add_argument("chart")
    parser.add_argument("-n", "--namespace", default="default")
    parser.add_argument("-f", "--values", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--version", default="")
    parser.add_argument("--repo", default="")
    parser.add_argument("--timeout", default="5m")
    parser.add_argument("-i", "--install", action="store_true")
    for flag in ("wait", "create-namespace", "take-ownership", "skip-crds"):
        parser.add_argument(f"--{flag}", action="store_true")
    return parser


@dataclass(slots=True)
class Waiting:
    """A release that is made, and waited for."""

    release: str
    namespace: str
    revision: int
    until: float
    waits: bool = True


@dataclass(slots=True)
class Program:
    """One run."""

    helm: Helm
    read: Callable[[str], str | None]
    """The text of a file."""
    says: list[str] = field(default_factory=list)

    def run(self, arguments: list[str]) -> Waiting:
        """Begin what the arguments ask for; raises `Ended`."""
        known, unknown = _parser().parse_known_args(arguments)
        if unknown:
            raise Ended(f"Error: unknown flag: {unknown[0]}")
        try:
            return self._upgrade(known)
        except (BadValues, HelmFailed) as why:
            raise Ended(f"Error: {why}") from None

    def finish(self, waiting: Waiting) -> list[str]:
        """A release is as it should be: what is said of it; raises `Ended`."""
        release = self._release(waiting)
        try:
            self.helm.finish(release)
        except HelmFailed as why:
            raise Ended(f"Error: {why}") from None
        head = f'Release "{release.name}" has been upgraded. Happy Helming!'
        return [*([] if release.revision == 1 else [head]), *_summary(release)]

    def unfinished(self, waiting: Waiting) -> list[str]:
        """What is still waited for."""
        return [
            f"{one['kind']}/{metadata_of(one).get('namespace', '')}/{metadata_of(one)['name']}"
            f" not ready. status: InProgress, message: {why}"
            for one, why in self.helm.waiting(self._release(waiting))
        ]

    def give_up(self, waiting: Waiting) -> NoReturn:
        """It took too long; always raises `Ended`."""
        left = self.unfinished(waiting)
        release = self._release(waiting)
        why = "\n".join([*(f"resource {item}" for item in left), "context deadline exceeded"])
        self.helm.fail(release, why)
        raise Ended(f"Error: {'UPGRADE FAILED: ' if release.revision > 1 else ''}{why}")

    def _upgrade(self, options: argparse.Namespace) -> Waiting:
        name, space = options.release, options.namespace
        last = self.helm.last(name, space)
        is_new = last is None or last.status == "uninstalled"
        if is_new and not options.install:
            raise HelmFailed(f'UPGRADE FAILED: "{name}" has no deployed releases')
        if last is not None and last.is_pending:
            text = "another operation (install/upgrade/rollback) is in progress"
            raise HelmFailed(f"UPGRADE FAILED: {text}")
        if is_new:
            self.says.append(f'Release "{name}" does not exist. Installing it now.')
        release_spec = ReleaseSpec(
            name,
            space,
            self._chart(options),
            self._values(options),
            create_namespace=options.create_namespace,
            definitions="Skip" if options.skip_crds else "Create",
            take_ownership=options.take_ownership,
        )
        if last is None or is_new:
            result = self.helm.begin_install(release_spec, 1 if last is None else last.revision + 1)
        else:
            result = self._begin_upgrade(release_spec, last)
        until = self.helm.clock() + _seconds(options.timeout)
        return Waiting(name, space, result.revision, until, options.wait)

    def _begin_upgrade(self, release_spec: ReleaseSpec, last: Release) -> Release:
        try:
            return self.helm.begin_upgrade(release_spec, last)
        except HelmFailed as why:
            raise HelmFailed(f"UPGRADE FAILED: {why}") from None

    def _chart(self, options: argparse.Namespace) -> Chart:
        key, version = options.chart, options.version
        if not key.startswith("oci://"):
            chart = charts.known_in(options.repo, key, version)
            if chart is None:
                raise HelmFailed(f'chart "{key}" not found in {options.repo} repository')
            return chart
        chart = charts.known(key, version) if version else charts.newest(key)
        if chart is None:
            source = f"{key.removeprefix('oci://')}:{version}"
            raise HelmFailed(f'failed to perform "FetchReference" on source: {source}: not found')
        self.says.append(f"Pulled: {key.removeprefix('oci://')}:{chart.version}")
        self.says.append(f"Digest: {chart.digest}")
        return chart

    def _values(self, options: argparse.Namespace) -> Object:
        values: Object = {}
        for name in options.values:
            text = self.read(name)
            if text is None:
                raise BadValues(f"open {name}: no such file or directory")
            values = merged(values, read_values(text, name))
        for assignment in options.set:
            values = set_values(assignment, values)
        return values

    def _release(self, waiting: Waiting) -> Release:
        for release in self.helm.history(waiting.release, waiting.namespace):
            if release.revision == waiting.revision:
                return release
        raise Ended("Error: release: not found")


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        raise HelmFailed(f'invalid argument "{text}" for "--timeout" flag')
    hours, minutes, seconds = (float(group or 0) for group in match.groups())
    return hours * 3600 + minutes * 60 + seconds


def _summary(release: Release) -> list[str]:
    moment = datetime.fromtimestamp(release.last, UTC)
    return [
        f"NAME: {release.name}",
        f"LAST DEPLOYED: {moment.strftime('%a %b %e %H:%M:%S %Y')}",
        f"NAMESPACE: {release.namespace}",
        f"STATUS: {release.status}",
        f"REVISION: {release.revision}",
        f"DESCRIPTION: {release.description}",
        "TEST SUITE: None",
    ]
