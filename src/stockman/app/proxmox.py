"""Clients of the configured Proxmox clusters, and the credentials of administrators and logins.

Credentials come from the environment or a prompt. The variables are those that other Proxmox tools
use. From the second cluster on, they end with its number, such as `PROXMOX_VE_API_TOKEN_2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.model.errors import Refused, WrongUsage
from stockman.model.problem import Problem
from stockman.model.proxmox import OWN_TOKEN, ProxmoxCluster
from stockman.model.proxmox_values import split_token
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.environment import Trust
from stockman.ports.system import Timekeeper
from stockman.proxmox.access import Privileges

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import ApiToken, Login
    from stockman.adapters.proxmox.endpoint import Endpoints, HttpTimeouts
    from stockman.adapters.proxmox.transport import HttpProxmox

TOKEN, USER, PASSWORD = "PROXMOX_VE_API_TOKEN", "PROXMOX_VE_USERNAME", "PROXMOX_VE_PASSWORD"
ENDPOINT = "PROXMOX_VE_ENDPOINT"


def find_administrator(
    environment: Mapping[str, str], cluster: ProxmoxCluster, number: int, login: Login | None
) -> ApiToken | Login | None:
    """Return the administrator's credentials for the `number`th cluster. None: not set.

    Raises `WrongUsage` if the variables are incomplete.
    """
    from stockman.adapters.proxmox.credentials import ApiToken, Login

    if login is not None:
        return login
    suffix = "" if number == 0 else f"_{number + 1}"
    named, user, password = f"{TOKEN}{suffix}", f"{USER}{suffix}", f"{PASSWORD}{suffix}"
    if environment.get(named):
        token_id, equals, secret = environment[named].partition("=")
        if "!" not in token_id or not equals or not secret:
            raise WrongUsage(incomplete_token(named))
        if token_id == cluster.token_id:
            return None
        return ApiToken(id=token_id, secret=Secret(secret, resolved=True), source=named)
    if environment.get(user) and not environment.get(password):
        raise WrongUsage(_incomplete_login(user, password))
    if environment.get(user):
        typed = Secret(environment[password], resolved=True)
        return Login(user=environment[user], password=typed, source=password)
    return None


def administrator_endpoints(
    environment: Mapping[str, str], number: int, source: str, endpoints: Endpoints
) -> Endpoints:
    """Return the only endpoint that may get the credentials of an administrator.

    The environment has to name it: the address in the files may be somebody else's. `source` is
    the variable with the credentials, or empty. Raises `WrongUsage` if it is not configured.
    """
    from stockman.adapters.proxmox.endpoint import format_address

    name = ENDPOINT if number == 0 else f"{ENDPOINT}_{number + 1}"
    configured = {(server.host, server.port): url for server, url in endpoints.pairs()}
    named = environment.get(name, "")
    where = f"environment variable {source or name}"
    addresses = tuple(format_address(server) for server, _ in endpoints.pairs())
    if not named:
        raise WrongUsage(unbound_administrator(name, where, addresses))
    server = replace(endpoints, urls=(named,), connect={}).servers()[0]
    url = configured.get((server.host, server.port))
    if url is None:
        raise WrongUsage(other_endpoint(name, format_address(server), addresses))
    return replace(endpoints, urls=(url,))


def check_named_endpoint(environment: Mapping[str, str], url: str) -> None:
    """Raise `WrongUsage` if the environment names another Proxmox VE than a URL that was typed."""
    from stockman.adapters.proxmox.endpoint import Endpoints, format_address

    named = environment.get(ENDPOINT, "")
    if not named or not any(environment.get(name) for name in (TOKEN, USER)):
        return
    typed, server = (Endpoints(urls=(text,)).servers()[0] for text in (url, named))
    if (server.host, server.port) != (typed.host, typed.port):
        raise WrongUsage(other_endpoint(ENDPOINT, format_address(server), (format_address(typed),)))


def unbound_administrator(name: str, where: str, addresses: tuple[str, ...]) -> Problem:
    return Problem(
        code="proxmox.administrator",
        what="the administrator's credentials are for no particular Proxmox VE",
        where=where,
        why=f"{name} is not set, and the files, which may come from others, name"
        f" {' and '.join(addresses)}; nothing was sent",
        fix=f"if this is your Proxmox VE: `export {name}={addresses[0].partition(' ')[0]}`",
    )


def other_endpoint(name: str, named: str, addresses: tuple[str, ...]) -> Problem:
    return Problem(
        code="proxmox.administrator",
        what="the administrator's credentials are for another Proxmox VE",
        where=f"environment variable {name}",
        why=f"it is {named}, and the address here is {' and '.join(addresses)}; nothing was sent",
        fix=f"use credentials of that Proxmox VE and set {name} to its address, or unset them",
    )


def incomplete_token(name: str) -> Problem:
    return Problem(
        code="proxmox.administrator",
        what=f"{name} is no token of Proxmox VE",
        where=f"environment variable {name}",
        why="it has to be user@realm!name=secret, such as root@pam!setup=1b2c…",
        fix=f"correct it; or, if no access is to be granted, run `unset {name}`",
    )


def _incomplete_login(user: str, password: str) -> Problem:
    return Problem(
        code="proxmox.administrator",
        what=f"{user} is set, and {password} is not",
        where=f"environment variable {user}",
        why="Proxmox VE does not accept a user name without a password",
        fix=f"set {password} too, or use `--admin` to be prompted for it, or `unset {user}`",
    )


TOKEN_ID = "PROXMOX_TOKEN_ID"
TOKEN_SECRET = "PROXMOX_TOKEN_SECRET"
_ROOT = "root@pam"


@record
class ProxmoxLogin:
    """A login that may read, and the token that the files will name."""

    user: str
    """`user@realm!name`, or `user@realm` with a password."""
    secret: Secret
    is_permanent: bool
    """Whether the files name this token; otherwise it is only used now."""
    variable: str = ""
    """The variable with the secret. Empty: it was typed."""

    @property
    def is_token(self) -> bool:
        return "!" in self.user

    @property
    def token_id(self) -> str:
        """The token that the files name."""
        return self.user if self.is_permanent else OWN_TOKEN

    @property
    def token_why(self) -> str:
        """A note about that token."""
        if self.is_permanent:
            return f"The token that was used to look. Its secret is read from {TOKEN_SECRET}."
        return (
            "A token of stockman's own, with no more rights than it needs. `stockman apply` makes"
            f" it with the rights of an administrator, such as {self.user}, who looked here, and"
            " keeps its secret encrypted beside the bundle."
        )


def login_from_environment(environment: Mapping[str, str]) -> ProxmoxLogin | None:
    """Return the login in the environment. None: not set.

    Raises `WrongUsage` if a variable is missing.
    """
    if environment.get(TOKEN):
        token_id, equals, secret = environment[TOKEN].partition("=")
        if not equals or "!" not in token_id or not secret:
            raise WrongUsage(_invalid_login())
        return ProxmoxLogin(
            user=token_id, secret=Secret(secret, resolved=True), is_permanent=False, variable=TOKEN
        )
    for name, secret_name, stays in (
        (TOKEN_ID, TOKEN_SECRET, True),
        (USER, PASSWORD, False),
    ):
        if environment.get(name):
            if not environment.get(secret_name):
                raise WrongUsage(_incomplete_variables(name, secret_name))
            secret_found = Secret(environment[secret_name], resolved=True)
            return ProxmoxLogin(
                user=environment[name],
                secret=secret_found,
                is_permanent=stays,
                variable=secret_name,
            )
    return None


def login_from_prompt(user: str, secret: str) -> ProxmoxLogin:
    """Return the typed login; the files never name a token of root."""
    stays = "!" in user and not user.startswith(f"{_ROOT}!")
    return ProxmoxLogin(user=user, secret=Secret(secret, resolved=True), is_permanent=stays)


def no_login() -> WrongUsage:
    """Return the error for a missing login."""
    return WrongUsage(
        Problem(
            code="init.no-credentials",
            what="there are no credentials for Proxmox VE",
            why=f"neither {TOKEN_ID} with {TOKEN_SECRET} nor {TOKEN} nor {USER} with"
            f" {PASSWORD} is set, and there is no terminal for a prompt",
            fix=f"set {TOKEN_ID} (user@realm!name) and {TOKEN_SECRET} in the environment",
        )
    )


def credentials(asker: ProxmoxLogin) -> ApiToken | Login:
    """Return the credentials of a login."""
    from stockman.adapters.proxmox.credentials import ApiToken, Login

    if asker.is_token:
        return ApiToken(id=asker.user, secret=asker.secret, source=asker.variable)
    return Login(user=asker.user, password=asker.secret, source=asker.variable)


def _incomplete_variables(name: str, lacked: str) -> Problem:
    return Problem(
        code="init.no-credentials",
        what=f"{name} is set, and {lacked} is not",
        why="Proxmox VE requires both",
        fix=f"set {lacked} in the environment too",
    )


def _invalid_login() -> Problem:
    return Problem(
        code="init.no-credentials",
        what=f"{TOKEN} is no token",
        why="it has to be user@realm!name=secret",
        fix=f"correct it, or set {TOKEN_ID} and {TOKEN_SECRET} instead",
    )


def proxmox_endpoints(
    cluster: ProxmoxCluster,
    connect: Mapping[str, str],
    ca: bytes | None,
    timeouts: HttpTimeouts | None = None,
) -> Endpoints:
    """Return a cluster's endpoints and how to verify them; `ca` is the content of its CA file."""
    from stockman.adapters.proxmox.endpoint import Endpoints, HttpTimeouts

    first = (cluster.endpoint,) if cluster.endpoint is not None else ()
    return Endpoints(
        urls=(*first, *cluster.endpoints),
        trust=Trust(ca=ca, fingerprint=cluster.tls.fingerprint, further=cluster.tls.fingerprints),
        connect=connect,
        timeouts=timeouts or HttpTimeouts(),
    )


def authority_of(cluster: ProxmoxCluster, directory: Path) -> bytes | None:
    """Return the content of a cluster's CA file. Raises `Refused` if it cannot be read. None: no
    file."""
    name = cluster.tls.ca_file
    if name is None:
        return None
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        raise Refused(unreadable_authority(name, error)) from None


def unreadable_authority(name: str, error: OSError) -> Problem:
    return Problem(
        code="proxmox.authority",
        what="the CA of Proxmox VE cannot be read",
        where=f"{name} (proxmox.tls.ca_file)",
        why=error.strerror or type(error).__name__,
        fix="put the certificate there that hosts have as /etc/pve/pve-root-ca.pem",
    )


def open_proxmox(
    endpoints: Endpoints, token_id: str, secret: Secret, clock: Timekeeper
) -> HttpProxmox:
    """Open a client, which must be closed after use; the secret may include the token ID."""
    from stockman.adapters.proxmox.credentials import ApiToken
    from stockman.adapters.proxmox.transport import HttpProxmox

    token, alone = split_token(token_id, secret)
    return HttpProxmox(endpoints, ApiToken(id=token, secret=alone), clock)


class HttpTokenTest:
    """Implements `TokenTest` with HTTP calls to the Proxmox clusters."""

    def __init__(self, endpoints: Mapping[str, Endpoints], clock: Timekeeper) -> None:
        self._endpoints = endpoints
        """By region, as `proxmox_endpoints` makes them."""
        self._clock = clock

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        async with open_proxmox(self._endpoints[cluster], token, secret, self._clock) as client:
            return {path: (await client.permissions(path)).get(path, frozenset()) for path in paths}
