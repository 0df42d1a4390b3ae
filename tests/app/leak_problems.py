"""Problems of leaked secrets, client configurations and certificates, made by broken input.

What their pages are compared with.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from stockman.app.client_config.certificate_list import list_certificates
from stockman.app.client_config.files import lifetime_below, write_client_file
from stockman.app.client_config.talosconfig import TalosconfigOptions, write_talosconfig
from stockman.app.secrets.store import find_rules
from stockman.app.secrets_check.encrypted_files import EncryptedFileCheck
from stockman.crypto.certificates import read_certificate_facts
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.talos.credentials.kubeconfig import update_kubeconfig
from tests.app.secret_workspace import NOBODY, SeededDice
from tests.app.start_doors import NOON
from tests.app.workspaces import BUNDLE, doors, workspace
from tests.crypto.keys_at_hand import OTHER, OWNER
from tests.talos.made import bundle
from tests.talos.test_kubeconfig_placing import WISH

DAY = timedelta(days=1)


@contextmanager
def meadow() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as temporary_directory:
        yield workspace(Path(temporary_directory) / "meadow")


def told(call: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as caught:
        call()
    return caught.value.problem


def recipients() -> Problem:
    """A rule that names somebody else."""
    with meadow() as place:
        rules = (place / ".sops.yaml").read_text()
        (place / ".sops.yaml").write_text(rules.replace(OWNER.recipient, OTHER.recipient))
        judge = EncryptedFileCheck(find_rules(place, {}))
        (only,) = judge.problems(BUNDLE, (place / BUNDLE).read_bytes())
        return only


def certificate(now: datetime) -> Problem:
    """A talosconfig for a year, looked at later or earlier."""
    with meadow() as place:
        write_talosconfig(TalosconfigOptions(directory=place), doors(TALOSCONFIG="talosconfig"))
        (place / BUNDLE).unlink()
        certificate_list = list_certificates(place, NOBODY, {}, now)
        return next(problem for problem in certificate_list.problems if "of meadow" in problem.what)


def ended() -> Problem:
    authority = bundle().certs.os.crt
    return told(
        lambda: lifetime_below(authority, "os", DAY, read_certificate_facts(authority).period.end)
    )


def unwritable() -> Problem:
    """A directory stands where the file belongs."""
    with tempfile.TemporaryDirectory() as temporary_directory:
        return told(
            lambda: write_client_file(
                Path(temporary_directory), "talosconfig", Secret(""), SeededDice()
            )
        )


def unreadable_kubeconfig() -> Problem:
    text = Secret("clusters: none\n")
    client = bundle().certs.k8s
    return told(lambda: update_kubeconfig("kubeconfig", text, WISH, NOON, lambda: client))


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "certificate.due": lambda: certificate(NOON + 350 * DAY),
    "certificate.early": lambda: certificate(NOON - DAY),
    "certificate.expired": lambda: certificate(NOON + 400 * DAY),
    "client.authority-ended": ended,
    "client.unwritable": unwritable,
    "kubeconfig.unreadable": unreadable_kubeconfig,
    "leak.recipients": recipients,
}
