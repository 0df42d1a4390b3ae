"""Write, merge, renew or show the administrator's kubeconfig."""

from __future__ import annotations

from functools import partial

from stockman.app.client_config import files
from stockman.app.client_config.files import (
    ClientFile,
    ClientFileContext,
    ClientFileOptions,
    MergedFile,
    issuer,
    lifetime_below,
    update_client_file,
)
from stockman.app.secrets.bundle import open_bundle
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import (
    KUBERNETES_ADMIN,
    KUBERNETES_ADMINS,
    CertificateRequirements,
)
from stockman.talos.credentials.kubeconfig import DesiredAdmin, KubeconfigUpdate, update_kubeconfig

VARIABLE = "KUBECONFIG"
FILE = "kubeconfig"
_PORT = 6443


def write_kubeconfig(options: ClientFileOptions, context: ClientFileContext) -> ClientFile:
    """Update the file; keep valid certificates and all other content."""
    path = options.merge or files.client_file_path(
        options.directory, VARIABLE, context.environment, FILE
    )

    def merge(shown: str, old: Secret) -> MergedFile:
        merged = _merge_kubeconfig(shown, old, options, context)
        return MergedFile(text=merged.text, state=merged.state, context=merged.name, crt=merged.crt)

    return update_client_file(path, options, merge, (KUBERNETES_ADMINS,), context)


def new_kubeconfig(options: ClientFileOptions, context: ClientFileContext) -> Secret:
    """Return the text of a new file without writing it."""
    return _merge_kubeconfig(FILE, Secret(""), options, context).text


def _merge_kubeconfig(
    shown: str, old: Secret, options: ClientFileOptions, context: ClientFileContext
) -> KubeconfigUpdate:
    _, cluster = files.load_cluster(options.directory)
    bundle = open_bundle(options.directory, context.keyring)
    authority = bundle.certs.k8s.crt
    now = context.clock.now()
    lifetime = lifetime_below(authority, "k8s", options.lifetime, now)
    make = partial(issuer(bundle, cluster, context).kubernetes_admin, lifetime)
    admin = DesiredAdmin(
        cluster=cluster.name,
        endpoint=f"https://{cluster.kubernetes.api_addr}:{_PORT}",
        required=CertificateRequirements(
            authority=authority,
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
        ),
        renew=options.renew,
        shared=options.merge is not None,
    )
    return update_kubeconfig(shown, old, admin, now, make)
