"""The `helm` program in a container: what its commands do, and what it prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from stockman_lab.kube.helm import chart as charts
from stockman_lab.kube.helm.chart import Chart
from stockman_lab.kube.helm.command import BadCommand, Command, read_command
from stockman_lab.kube.helm.engine import Helm, HelmFailed, Wish
from stockman_lab.kube.helm.release import Release
from stockman_lab.kube.helm.scripts import Call
from stockman_lab.kube.helm.values import BadValues, merged, read_values, set_values
from stockman_lab.kube.objects import Object, metadata_of

_HIDDEN = frozenset({"version", "repo", "registry", "dependency", "env", "plugin", "get", "status"})
"""Commands that change nothing in a cluster."""


class Ended(Exception):
    """The program ends with an error: what it says last."""


@dataclass(slots=True)
class Waiting:
    """A release that is made, and waited for."""

    release: str
    namespace: str
    revision: int
    until: float
    undo: str = ""
    """What becomes of it where it fails: `uninstall`, `rollback`. Empty: it stays."""
    waits: bool = True


@dataclass(slots=True)
class Program:
    """One run."""

    helm: Helm
    read: Callable[[str], str | None]
    """The text of a file."""
    major: int = 3
    says: list[str] = field(default_factory=list)
    repositories: dict[str, str] = field(default_factory=dict)

    def call(self, called: Call) -> Waiting | None:
        """Do one call; raises `Ended`."""
        if called.words[0].rpartition("/")[2] != "helm":
            return None
        try:
            command = read_command(list(called.words[1:]))
            if command.name in _HIDDEN:
                self._aside(command)
                return None
            if command.name == "upgrade":
                return self._upgrade(command, called.text)
            if command.name == "install":
                return self._install(command, called.text)
            if command.name in {"uninstall", "delete"}:
                self._uninstall(command)
                return None
        except (BadCommand, BadValues, HelmFailed) as why:
            raise Ended(f"Error: {why}") from None
        raise Ended(f'Error: unknown command "{command.name}" for "helm"')

    def finish(self, waiting: Waiting) -> list[str]:
        """A release is as it should be: what is said of it; raises `Ended`."""
        release = self._again(waiting)
        is_first = release.revision == 1
        try:
            self.helm.finish(release)
        except HelmFailed as why:
            raise Ended(f"Error: {why}") from None
        head = f'Release "{release.name}" has been upgraded. Happy Helming!'
        return [*([] if is_first else [head]), *_told(release)]

    def unfinished(self, waiting: Waiting) -> list[str]:
        """What is still waited for."""
        release = self._again(waiting)
        return [
            f"{one['kind']}/{metadata_of(one).get('namespace', '')}/{metadata_of(one)['name']}"
            f" not ready. status: InProgress, message: {why}"
            for one, why in self.helm.waiting(release)
        ]

    def give_up(self, waiting: Waiting) -> None:
        """It took too long; always raises `Ended`."""
        left = self.unfinished(waiting)
        release = self._again(waiting)
        why = "context deadline exceeded"
        if self.major >= 4:
            why = "\n".join([*(f"resource {one}" for one in left), why])
        self.helm.fail(release, why)
        by = "rollback-on-failure" if self.major >= 4 else "atomic"
        if waiting.undo == "uninstall":
            self.helm.uninstall(release.name, release.namespace)
            raise Ended(
                f"Error: release {release.name} failed, and has been uninstalled due to {by}"
                f" being set: {why}"
            )
        if waiting.undo == "rollback":
            self._roll_back(release)
            raise Ended(
                f"Error: UPGRADE FAILED: release {release.name} failed, and has been rolled back"
                f" due to {by} being set: {why}"
            )
        raise Ended(f"Error: {'UPGRADE FAILED: ' if release.revision > 1 else ''}{why}")

    # -- commands ------------------------------------------------------------------------------

    def _aside(self, command: Command) -> None:
        if command.name == "repo" and command.arguments[:1] == ["add"]:
            _, name, url = (*command.arguments, "", "")[:3]
            self.repositories[name] = url
            self.says.append(f'"{name}" has been added to your repositories')

    def _upgrade(self, command: Command, text: str) -> Waiting:
        name, _ = self._two(command, "upgrade")
        space = command.option("namespace", "default")
        history = self.helm.history(name, space)
        live = next((one for one in history if one.status == "deployed"), None)
        last = history[0] if history else None
        if last is None or last.status == "uninstalled":
            if "install" not in command.flags:
                raise HelmFailed(f'UPGRADE FAILED: "{name}" has no deployed releases')
            self.says.append(f'Release "{name}" does not exist. Installing it now.')
            return self._new(command, text, 1 if last is None else last.revision + 1)
        if last.is_pending:
            text = "another operation (install/upgrade/rollback) is in progress"
            raise HelmFailed(f"UPGRADE FAILED: {text}")
        if live is None and last.status != "failed":
            raise HelmFailed(f'UPGRADE FAILED: "{name}" has no deployed releases')
        wish = self._wish(command, text)
        if "reuse-values" in command.flags and live is not None:
            wish = replace(wish, values=merged(live.values, wish.values))
        try:
            begin_upgrade = self.helm.begin_upgrade(wish, last)
        except HelmFailed as why:
            raise HelmFailed(f"UPGRADE FAILED: {self._worded(why)}") from None
        return self._waiting(command, begin_upgrade, "rollback" if live is not None else "")

    def _install(self, command: Command, text: str) -> Waiting:
        name, _ = self._two(command, "install")
        space = command.option("namespace", "default")
        last = self.helm.last(name, space)
        if last is not None and last.status != "uninstalled":
            raise HelmFailed("INSTALLATION FAILED: cannot re-use a name that is still in use")
        try:
            return self._new(command, text, 1 if last is None else last.revision + 1)
        except HelmFailed as why:
            raise HelmFailed(f"INSTALLATION FAILED: {why}") from None

    def _new(self, command: Command, text: str, revision: int) -> Waiting:
        try:
            begin_install = self.helm.begin_install(self._wish(command, text), revision)
        except HelmFailed as why:
            raise HelmFailed(self._worded(why)) from None
        return self._waiting(command, begin_install, "uninstall")

    def _uninstall(self, command: Command) -> None:
        if not command.arguments:
            raise BadCommand('"helm uninstall" requires at least 1 argument')
        for name in command.arguments:
            space = command.option("namespace", "default")
            keep = "keep-history" in command.flags
            if self.helm.uninstall(name, space, keep=keep) is None:
                if "ignore-not-found" in command.flags:
                    continue
                raise HelmFailed(f"uninstall: Release not loaded: {name}: release: not found")
            self.says.append(f'release "{name}" uninstalled')

    # -- parts ---------------------------------------------------------------------------------

    def _waiting(self, command: Command, made: Release, undo: str) -> Waiting:
        undoes = bool({"atomic", "rollback-on-failure"} & command.flags)
        return Waiting(
            made.name,
            made.namespace,
            made.revision,
            self.helm.clock() + command.seconds,
            undo if undoes else "",
            undoes or "wait" in command.flags,
        )

    def _worded(self, why: HelmFailed) -> str:
        text = str(why)
        return text[:1].lower() + text[1:] if self.major >= 4 else text

    def _two(self, command: Command, name: str) -> tuple[str, str]:
        if len(command.arguments) != 2:
            shown = f"{len(command.arguments)} arguments"
            raise BadCommand(f'"helm {name}" requires 2 arguments, but got {shown}')
        return command.arguments[0], command.arguments[1]

    def _wish(self, command: Command, text: str) -> Wish:
        name, place = self._two(command, command.name)
        return Wish(
            name,
            command.option("namespace", "default"),
            self._chart(command, place),
            self._values(command, text),
            create_namespace="create-namespace" in command.flags,
            definitions="Skip" if "skip-crds" in command.flags else "Create",
            take_ownership="take-ownership" in command.flags,
        )

    def _chart(self, command: Command, place: str) -> Chart:
        version, repository = command.option("version"), command.option("repo")
        if place.startswith("oci://"):
            return self._pulled(place, version)
        alias, _, name = place.rpartition("/")
        if not repository and alias in self.repositories:
            repository, place = self.repositories[alias], name
        if not repository:
            missing = f"repo {alias} not found" if alias else f'path "{place}" not found'
            raise HelmFailed(missing)
        chart = charts.known_in(repository, place, version)
        if chart is None:
            asked = f' version "{version}"' if version else ""
            raise HelmFailed(f'chart "{place}"{asked} not found in {repository} repository')
        return chart

    def _pulled(self, place: str, version: str) -> Chart:
        url, _, tag = place.removeprefix("oci://").rpartition(":")
        if not url or "/" in tag:
            url, tag = place.removeprefix("oci://"), version
        newest = charts.known(f"oci://{url}", tag) if tag else charts.newest(f"oci://{url}")
        if newest is None:
            raise HelmFailed(
                f'failed to perform "FetchReference" on source: {url}:{tag}: not found'
            )
        self.says.append(f"Pulled: {url}:{newest.version}")
        self.says.append(f"Digest: {newest.digest}")
        return newest

    def _values(self, command: Command, text: str) -> Object:
        values: Object = {}
        for name, value in command.options:
            if name == "values":
                for file in value.split(","):
                    values = merged(values, self._file(file, text))
        for name, value in command.options:
            if name in {"set", "set-string"}:
                values = set_values(value, values, is_text=name == "set-string")
        return values

    def _file(self, name: str, text: str) -> Object:
        found = text if name == "-" else self.read(name)
        if found is None:
            raise BadValues(f"open {name}: no such file or directory")
        return read_values(found, name)

    def _again(self, waiting: Waiting) -> Release:
        for release in self.helm.history(waiting.release, waiting.namespace):
            if release.revision == waiting.revision:
                return release
        raise Ended("Error: release: not found")

    def _roll_back(self, release: Release) -> None:
        history = self.helm.history(release.name, release.namespace)
        good = next((one for one in history if one.status == "deployed"), None)
        if good is not None:
            rollback = self.helm.rollback(good, release)
            self.helm.finish(rollback)


def _told(release: Release) -> list[str]:
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
