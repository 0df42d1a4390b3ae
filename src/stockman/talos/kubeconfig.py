"""The administrator's kubeconfig, as Talos makes it."""

from __future__ import annotations

import base64

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import Sequence
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.yaml_writer import dump
from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.documents import at, text_at

_NAMESPACE = "default"


def kubeconfig(cluster: str, endpoint: str, authority: str, client: CertificateAndKey) -> Secret:
    """The text of a kubeconfig with one context, `admin@CLUSTER`.

    `authority` is the PEM text that the server's certificate is checked with.
    """
    user = f"admin@{cluster}"
    return Secret(
        dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [
                    {
                        "name": cluster,
                        "cluster": {
                            "server": endpoint,
                            "certificate-authority-data": _base64(authority),
                        },
                    }
                ],
                "users": [
                    {
                        "name": user,
                        "user": {
                            "client-certificate-data": _base64(client.crt),
                            "client-key-data": _base64(client.key.reveal()),
                        },
                    }
                ],
                "contexts": [
                    {
                        "name": user,
                        "context": {"cluster": cluster, "namespace": _NAMESPACE, "user": user},
                    }
                ],
                "current-context": user,
            }
        )
    )


def client_certificates(file: str, text: Secret, problems: Problems) -> dict[str, str]:
    """The client certificates of a kubeconfig as PEM text, by the name of their user.

    Users that log in in another way are left out.
    """
    try:
        users = at(read_yaml(file, text.reveal()), "users")
    except Unreadable as error:
        problems.add(error.problem)
        return {}
    found = {}
    for user in users.items if isinstance(users, Sequence) else []:
        name, data = text_at(user, "name"), text_at(user, "user.client-certificate-data")
        if name is None or data is None:
            continue
        try:
            found[name.text] = base64.b64decode(data.text, validate=True).decode("ascii")
        except ValueError:
            problems.error(
                "certificate.unreadable",
                f"the certificate of {name.text} cannot be read",
                why="it is not base64 of a text",
                fix="make the kubeconfig anew",
                at=data.at,
            )
    return found


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")
