"""Settings of a service: from its file, the environment and flags, all checked before it starts."""

from __future__ import annotations

import ipaddress
import os
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from bocage.errors import ServiceError

PREFIX = "BOCAGE_"
# Other names of the environment that Bocage knows; they are no settings of the service.
_NOT_OURS = {"BOCAGE_HOME", "BOCAGE_KEY", "BOCAGE_URL"}


def _setting(default: Any, doc: str, low: float | None = None, high: float | None = None) -> Any:
    return field(default=default, metadata={"doc": doc, "low": low, "high": high})


@dataclass(frozen=True)
class Settings:
    """How a service runs. Every field is a key of ``settings.toml`` and a name ``BOCAGE_…``."""

    host: str = _setting("127.0.0.1", "Address to listen on.")
    port: int = _setting(8400, "Port to listen on; 0 for any that is free.", 0, 65535)
    workers: int = _setting(1, "Worker processes, all against one ledger.", 1, 64)
    tls_certificate: str = _setting("", "File of the TLS certificate chain.")
    tls_key: str = _setting("", "File of the TLS private key.")
    behind_tls_proxy: bool = _setting(
        False, "A proxy in front speaks TLS: serve plain HTTP on an address that is not loopback."
    )
    ledger: str = _setting("ledger.sqlite", "The ledger: a file, or a postgresql:// URL.")
    anchor: str = _setting("", "File on another disk that names the ledger's last entry; empty for none.")
    registry: str = _setting("", "Tables, analysts, jobs, models; empty: beside the ledger, in the same kind of store.")
    signing_key: str = _setting("signing.pem", "The owner's key: ledger exports, contributions.")
    padding_milliseconds: int = _setting(
        50,
        "Answers leave at the next multiple of this time; 0 switches the padding off.",
        0,
        60_000,
    )
    job_padding_milliseconds: int = _setting(
        250, "Levels of a job are reported at multiples of this time; 0 for at once.", 0, 60_000
    )
    requests_per_second: float = _setting(50.0, "What one key may ask on average.", 0.01, 1e6)
    burst: int = _setting(100, "What one key may ask at once.", 1, 10**6)
    body_bytes: int = _setting(2**20, "Largest request.", 1024, 2**28)
    party_plan_bytes: int = _setting(2**24, "Largest plan of several owners.", 1024, 2**28)
    json_depth: int = _setting(16, "How deep a request may be nested.", 4, 200)
    jobs_at_once: int = _setting(2, "Models that one worker process grows at a time.", 1, 64)
    jobs_per_analyst: int = _setting(4, "Jobs of one analyst that may wait or run in one worker process.", 1, 1000)
    handles_per_analyst: int = _setting(10_000, "Partitions that one analyst may keep.", 1, 10**7)
    dry_run_rows: int = _setting(20_000, "Rows that a dry run may make up.", 1, 10**7)
    threads: int = _setting(
        32,
        "Requests that one worker process works on at a time; questions of one key take three quarters.",
        1,
        1000,
    )
    poll_seconds: float = _setting(1.0, "How often a worker looks for new tables and lost workers.", 0.05, 60)
    warm_up: bool = _setting(True, "Load and compile everything before the first request.")
    console: bool = _setting(True, "Serve the web console and the survey pages.")
    session_minutes: int = _setting(30, "A session of the console ends after so long without a request.", 1, 1440)
    metrics: bool = _setting(True, "Serve /metrics to this machine itself.")

    @classmethod
    def read(
        cls,
        home: Path,
        environment: Mapping[str, str] | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> Self:
        """Flags over environment over file over defaults; what is not known is refused."""
        known = {setting.name: setting for setting in fields(cls)}
        given = _from_file(home / "settings.toml", known)
        given |= _from_environment(os.environ if environment is None else environment, known)
        given |= {name: value for name, value in (flags or {}).items() if value is not None}
        settings = cls(**given)
        settings.check()
        return settings

    def check(self) -> None:
        """Refuse what cannot work, or would be unsafe, before anything is opened."""
        for setting in fields(self):
            value, low, high = (
                getattr(self, setting.name),
                setting.metadata["low"],
                setting.metadata["high"],
            )
            if low is not None and not low <= value <= high:
                raise ServiceError(f"setting {setting.name} lies between {low} and {high}: {value}.")
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise ServiceError("settings tls_certificate and tls_key are given together or not.")
        if not (self.tls_certificate or self.behind_tls_proxy or is_loopback(self.host)):
            raise ServiceError(
                f"{self.host} is not a loopback address: keys and answers would travel in the "
                "clear. Give tls_certificate and tls_key, or say behind_tls_proxy if a proxy in "
                "front speaks TLS, or listen on 127.0.0.1."
            )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def template() -> str:
    """A settings file with every key, its meaning and its default, commented out."""
    lines = ["# Settings of this Bocage service. Each can also be given in the environment, such as"]
    lines += ["# BOCAGE_PORT=8401, or as a flag of `bocage serve` where there is one.", ""]
    for setting in fields(Settings):
        lines += [
            f"# {setting.metadata['doc']}",
            f"# {setting.name} = {_toml(setting.default)}",
            "",
        ]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _from_file(path: Path, known: Mapping[str, Field[Any]]) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ServiceError(f"{path.parent} is no home of a service: bocage init makes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ServiceError(f"{path} cannot be read ({type(error).__name__}).") from None
    except tomllib.TOMLDecodeError as error:
        raise ServiceError(f"{path} is not TOML: {error}.") from None
    for name in document:
        if name not in known:
            raise ServiceError(f"{path}: there is no setting {name!r}. {_listed(known)}")
    return {name: _typed(known[name], value, str(path)) for name, value in document.items()}


def _from_environment(environment: Mapping[str, str], known: Mapping[str, Field[Any]]) -> dict[str, Any]:
    given = {}
    for name, text in environment.items():
        if not name.startswith(PREFIX) or name in _NOT_OURS:
            continue
        key = name.removeprefix(PREFIX).lower()
        if key not in known:
            raise ServiceError(f"environment: there is no setting {name}. {_listed(known)}")
        given[key] = _parsed(known[key], text)
    return given


def _parsed(one: Field[Any], text: str) -> Any:
    kind: type[Any] = type(one.default)
    if kind is bool and text.lower() in {"true", "false", "1", "0", "yes", "no"}:
        return text.lower() in {"true", "1", "yes"}
    try:
        if kind is not bool:
            return kind(text)
    except ValueError:
        pass
    raise ServiceError(f"environment: {PREFIX}{one.name.upper()} is {kind.__name__}: {text!r}.")


def _typed(one: Field[Any], value: Any, where: str) -> Any:
    kind = type(one.default)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ServiceError(f"{where}: {one.name} is {kind.__name__}, not {value!r}.")
    return value


def _listed(known: Mapping[str, Field[Any]]) -> str:
    return f"Settings are {', '.join(known)}."
