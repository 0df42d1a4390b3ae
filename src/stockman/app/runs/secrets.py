"""Read and store the secrets of steps.

References: `${VARIABLE}`, `file:PATH` and `sops:FILE#key` as in the configuration;
`token:REGION/ID` for a stored Proxmox token, `config:PATH` for a secret in the configuration, and
`private:PATH` for a private file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.client_config import files
from stockman.app.secrets.proxmox_tokens import FILE, token_path
from stockman.app.secrets.references import ReferenceContext, resolve_section
from stockman.crypto.sops.paths import parse_path
from stockman.crypto.sops.update import NewValue
from stockman.model.desired import Desired
from stockman.model.errors import NotFound, Refused, StockmanError
from stockman.model.problem import Problem
from stockman.model.secret import Secret, SecretForm
from stockman.steps.secret_ref import SecretRef

if TYPE_CHECKING:
    from stockman.app.secrets.store import SecretStore
    from stockman.ports.system import Entropy

_TOKEN, _CONFIG, _PRIVATE = "token:", "config:", "private:"
_GUEST = "guests."


class StepSecrets:
    """Implements `Secrets` of the steps for one directory."""

    def __init__(
        self, context: ReferenceContext, desired: Desired, store: SecretStore, entropy: Entropy
    ) -> None:
        self._context = context
        self._desired = desired
        self._store = store
        self._entropy = entropy

    async def read(self, ref: SecretRef) -> Secret:
        """Return the secret. Raises `NotFound` if there is none."""
        return self.read_now(ref)

    def read_now(self, ref: SecretRef) -> Secret:
        """Return the secret synchronously."""
        location = ref.place
        if location.startswith(_PRIVATE):
            return self._private(location.removeprefix(_PRIVATE))
        if location.startswith(_TOKEN):
            return self._token(location.removeprefix(_TOKEN))
        if location.startswith(_CONFIG):
            return self._resolve(self._guest_password(location.removeprefix(_CONFIG)), location)
        secret = Secret(location)
        if secret.form is SecretForm.LITERAL:
            raise NotFound(secret_missing(location, "it is no place that secrets stand in"))
        return self._resolve(secret, location)

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        """Store a secret, encrypted in a file; the same secret changes nothing."""
        location = ref.place
        if location.startswith(_PRIVATE):
            path = self._context.directory / location.removeprefix(_PRIVATE)
            shown = files.shown_name(path, self._context.directory)
            files.check_not_tracked(path, shown)
            files.write_client_file(path, shown, secret, self._entropy)
        elif location.startswith(_TOKEN):
            region, _, token_id = location.removeprefix(_TOKEN).partition("/")
            self._set(FILE, NewValue(path=token_path(region, token_id), value=secret.reveal()))
        elif location.startswith("sops:"):
            file, _, path_text = location.removeprefix("sops:").partition("#")
            self._set(file, NewValue(path=parse_path(path_text), value=secret.reveal()))
        else:
            raise Refused(unwritable_secret(location))

    def _set(self, file: str, new: NewValue) -> None:
        self._store.set_value(file, new)

    def _private(self, name: str) -> Secret:
        path = self._context.directory / name
        text = files.read_client_file(path, name)
        if not text.reveal():
            raise NotFound(
                secret_missing(f"{_PRIVATE}{name}", "there is no such file, or it is empty")
            )
        return Secret(text.reveal(), resolved=True)

    def _token(self, name: str) -> Secret:
        from stockman.app.secrets.proxmox_tokens import token_reference

        region, _, token_id = name.partition("/")
        return self._resolve(token_reference(region, token_id), f"{_TOKEN}{name}")

    def _guest_password(self, path: str) -> Secret:
        """Return a guest's password, the only secret steps read from the configuration."""
        name = path.removeprefix(_GUEST).partition(".")[0]
        for guest in self._desired.guests:
            cloud = guest.vm.cloud_init if guest.vm is not None else None
            if str(guest.name) == name and cloud is not None and cloud.password is not None:
                return cloud.password
        raise NotFound(secret_missing(f"{_CONFIG}{path}", "the configuration has no such secret"))

    def _resolve(self, secret: Secret, location: str) -> Secret:
        try:
            resolved, problems = resolve_section(secret, self._context)
        except StockmanError as error:
            raise NotFound(secret_missing(location, error.problem.why)) from None
        for problem in problems.errors:
            raise NotFound(secret_missing(location, problem.why))
        return resolved


def private_file_ref(path: Path, directory: Path) -> SecretRef:
    """Return the reference of a private file of the workspace."""
    return SecretRef(place=f"{_PRIVATE}{files.shown_name(path, directory)}")


def secret_missing(location: str, why: str) -> Problem:
    return Problem(
        code="secret.nothing-there",
        what=f"there is no secret in {location}",
        where=location,
        why=why,
        fix="put it there, or let `stockman apply --only access` make it as an administrator",
    )


def unwritable_secret(location: str) -> Problem:
    return Problem(
        code="secret.unwritable-place",
        what=f"a secret cannot be put into {location}",
        where=location,
        why="stockman writes secrets into encrypted files only",
        fix="name a place as `sops:FILE#key`, or none: it is then kept in " + FILE,
    )
