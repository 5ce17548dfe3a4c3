"""The home of a service: one directory with settings, ledger, registry and the owner's key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from bocage.accounting import Ledger, open_ledger
from bocage.errors import BocageError, ServiceError
from bocage.parties import Signer
from bocage.service.core.registry import Registry
from bocage.service.settings import Settings, template

_URLS = ("postgresql://", "postgres://")


class Home:
    """A directory that `bocage init` made, and the settings that hold there."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path, self.settings = path, settings

    @classmethod
    def open(
        cls,
        path: str | Path,
        environment: Mapping[str, str] | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> Self:
        """Read the settings and check them; nothing is opened yet."""
        home = Path(path).absolute()
        return cls(home, Settings.read(home, environment, flags))

    @classmethod
    def create(cls, path: str | Path, *, ledger: str | None = None) -> Self:
        """Make a home in a new or empty directory that only its owner can enter."""
        home = Path(path).absolute()
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(home.iterdir()):
                raise ServiceError(f"{home} is not empty. Choose a new directory.")
            home.chmod(0o700)
            text = template()
            if ledger is not None:
                if '"' in ledger or "\\" in ledger or not ledger.isprintable():
                    raise ServiceError("the address of the ledger has a character that none has.")
                text = text.replace('# ledger = "ledger.sqlite"', f'ledger = "{ledger}"')
            settings = home / "settings.toml"
            settings.write_text(text, encoding="utf-8")
            settings.chmod(0o600)  # the address of a database may hold a password
        except OSError as error:
            raise ServiceError(f"{home} cannot be made ({error.strerror}).") from None
        made = cls.open(home, environment={})
        try:
            open_ledger(made.ledger_address, create=True).close()
            Registry(made.registry_address, create=True).close()
            Signer.new().save(made.signing_key)
        except BocageError:
            for file in home.iterdir():  # all are from here: it was empty
                file.unlink()
            raise
        return made

    @property
    def ledger_address(self) -> str:
        return self._address(self.settings.ledger)

    @property
    def registry_address(self) -> str:
        if self.settings.registry:
            return self._address(self.settings.registry)
        if self.settings.ledger.startswith(_URLS):
            return self.settings.ledger
        return self._address("registry.sqlite")

    @property
    def signing_key(self) -> Path:
        return self.path / self.settings.signing_key

    def open_ledger(self) -> Ledger:
        return open_ledger(self.ledger_address, anchor=self.anchor)

    @property
    def anchor(self) -> Path | None:
        return self.path / self.settings.anchor if self.settings.anchor else None

    def open_registry(self) -> Registry:
        return Registry(self.registry_address)

    def signer(self) -> Signer:
        return Signer.load(self.signing_key)

    def _address(self, given: str) -> str:
        return given if given.startswith(_URLS) else str(self.path / given)
