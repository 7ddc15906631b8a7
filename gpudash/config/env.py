"""Settings from the environment. A bad value stops the start with the setting's name; secrets are never repeated."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kube.images import allowed
from notifications.sending.addresses import parse_allowed
from stacks.resource_map import problem
from validations.floors import MOST_CHARACTERS, Floor, WrongFile, built_in, parse, with_own

#: What these characters of a password make of a URL cannot be told from a typing error.
QUOTE = "in the user name or password, write @ as %40, / as %2F, # as %23, ? as %3F and % as %25"
_PATH_PART = re.compile(r"[A-Za-z0-9._~-]+")
#: As browsers write an origin: in lower case, without a path, without the port that the scheme has anyway.
_ORIGIN = re.compile(r"(https://(?!.*:443$)|http://(?!.*:80$))([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?")
_OBJECT = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_TAINT = re.compile(
    r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?(=[A-Za-z0-9._-]{1,63})?"
)


class BadSetting(Exception):
    """A setting cannot work. The text names it and says what is wanted."""

    def __init__(self, name: str, wanted: str) -> None:
        super().__init__(f"{name}: {wanted}")


#: Names that were read. settings.py reads every setting there is, whatever the others say.
asked: set[str] = set()


def text(name: str, default: str = "") -> str:
    asked.add(name)
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool) -> bool:
    value = text(name).lower()
    if value in ("", "1", "true", "yes", "on"):
        return bool(value) or default
    if value in ("0", "false", "no", "off"):
        return False
    raise BadSetting(name, "must be true or false")


def number(name: str, default: int, low: int, high: int) -> int:
    value = text(name)
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or len(value) > 12 or not low <= int(value) <= high:
        raise BadSetting(name, f"must be an integer from {low} to {high}")
    return int(value)


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in allowed:
        raise BadSetting(name, f"must be one of: {', '.join(allowed)}")
    return value


def resources(name: str, default: str) -> str:
    """Extended resources of accelerators: "acme.example/npu=acme:whole:32Gi", separated by commas."""
    value = text(name, default)
    if wrong := problem(value):
        raise BadSetting(name, wrong)
    return value


def time_zone(name: str, default: str) -> str:
    """A name of the IANA database ("Asia/Shanghai")."""
    value = text(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadSetting(name, "must be a time zone such as UTC or Asia/Shanghai") from None
    return value


def words(name: str, default: str = "") -> list[str]:
    """A list, separated by commas."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def allowed_receivers(name: str) -> Any:
    """Private networks and hosts that messages may be sent to, see `notifications.sending.addresses`."""
    try:
        return parse_allowed(words(name))
    except ValueError as error:
        raise BadSetting(name, str(error)) from None


def origin(name: str, default: str) -> str:
    """Scheme, host and port, such as https://gpudash.example.com; "" for none."""
    value = text(name, default)
    try:
        url = urlsplit(value)
        whole = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
        rest = url.path.strip("/") + url.query + url.fragment + (url.username or "")
    except ValueError:
        whole, rest = False, ""
    if value and (not whole or rest):
        raise BadSetting(name, "must be a scheme and host such as https://gpudash.example.com, without a path")
    return value.rstrip("/")


def origins(name: str) -> list[str]:
    """Origins, each as a browser sends it in the header `Origin`."""
    return _matching(name, "", _ORIGIN, "must be origins as browsers send them, such as https://headlamp.example.com")


def images(name: str, default: str) -> list[str]:
    """Container images that may run, see `kube.images`."""
    found = words(name, default)
    try:
        allowed(found)
    except ValueError as error:
        raise BadSetting(name, str(error)) from None
    return found


def objects(name: str) -> list[str]:
    """Names of objects of a cluster."""
    return _matching(name, "", _OBJECT, "must be names of Kubernetes objects")


def taints(name: str, default: str) -> list[str]:
    """Taints, each by its key, or by key=value."""
    return _matching(name, default, _TAINT, "must be taints, as key or key=value")


def _matching(name: str, default: str, pattern: re.Pattern[str], wanted: str) -> list[str]:
    found = words(name, default)
    if wrong := [word for word in found if not pattern.fullmatch(word)]:
        raise BadSetting(name, f"{wanted}, separated by commas; invalid value: {wrong[0][:100]!r}")
    return found


def address(name: str) -> str:
    """An IP address, * for any, "" for none."""
    value = text(name)
    try:
        return value if value in ("", "*") else str(ip_address(value))
    except ValueError:
        raise BadSetting(name, "must be an IP address, or * for any") from None


def base_path(name: str) -> str:
    """ "/" or "/some/path/": where the service is served below."""
    value = text(name).strip("/")
    if value and not all(_PATH_PART.fullmatch(part) and part.strip(".") for part in value.split("/")):
        raise BadSetting(name, "must be a path such as /gpudash")
    return f"/{value}/" if value else "/"


def path(name: str, default: Path | None) -> Path | None:
    """A path that need not exist: who uses it says what is wrong with it."""
    value = text(name)
    try:
        return Path(value).expanduser().absolute() if value else default
    except RuntimeError as error:
        raise BadSetting(name, str(error)) from None


def floors(name: str) -> tuple[Floor, ...]:
    """The built-in floors, and those of the file that it names, see `validations.floors`."""
    file = path(name, None)
    if file is None:
        return built_in()
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            return with_own(parse(opened.read(MOST_CHARACTERS + 1)))
    except WrongFile as error:
        raise BadSetting(name, f"{file}: {error}") from None
    except UnicodeDecodeError:
        raise BadSetting(name, f"{file}: must be UTF-8") from None
    except (OSError, ValueError) as error:
        raise BadSetting(name, f"cannot read the file {file} ({type(error).__name__})") from None


def folders(name: str) -> list[str]:
    """Folders by their absolute paths. One that is not there holds nothing."""
    found = words(name)
    if wrong := [word for word in found if not word.startswith("/")]:
        raise BadSetting(
            name, f"must be absolute paths of folders, separated by commas; invalid value: {wrong[0][:100]!r}"
        )
    return found


def folder(name: str, default: Path, mode: int = 0o777) -> Path:
    """The folder, made if it is missing: with this mode, its parents with the usual one."""
    path = Path(text(name) or default)
    try:
        path = path.expanduser().absolute()
        path.mkdir(mode, parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadSetting(name, f"cannot create the folder {path} ({why})") from None
    if not os.access(path, os.W_OK):
        raise BadSetting(name, f"cannot write to the folder {path}")
    return path


def secret_key(name: str, data_dir: Path, production: bool) -> str:
    """From the environment; outside production it is made once and kept in the data folder."""
    value = text(name)
    if value:
        if production and len(value) < 50:
            raise BadSetting(name, "must have at least 50 characters in production")
        return value
    if production:
        raise BadSetting(name, "must be set in production (50 or more random characters)")
    kept = data_dir / "secret-key"
    try:
        if not kept.exists():
            _keep(kept, secrets.token_urlsafe(48))
        value = kept.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(name, f"not set, and {kept} cannot be read or created ({type(error).__name__})") from None
    if not value:
        raise BadSetting(name, f"not set, and {kept} is empty; delete this file and gpudash creates a new one")
    return value


def _keep(kept: Path, value: str) -> None:
    """Write a file as a whole, unless another process was quicker: several start at the same time."""
    handle, own = tempfile.mkstemp(dir=kept.parent, prefix=kept.name)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(value)
        with suppress(FileExistsError):
            os.link(own, kept)
    finally:
        os.unlink(own)


def broker(name: str, production: bool) -> str:
    """A Celery broker URL: redis://…, rediss://…, or memory:// (one process)."""
    value = text(name)
    if not value and production:
        raise BadSetting(
            name, "must be set in production, such as redis://host:6379/0 (memory:// works only in one process)"
        )
    value = value or "memory://"
    try:
        url = urlsplit(value)
        whole = not url.fragment and "@" not in url.path + url.query and url.port != 0
    except ValueError:
        whole, url = False, urlsplit("")
    if not whole:
        raise BadSetting(name, f"invalid URL; use redis://:password@host:6379/0; {QUOTE}")
    if url.scheme not in ("memory", "redis", "rediss", "sentinel", "amqp", "amqps"):
        raise BadSetting(name, "must be redis://host:6379/0 (or rediss, sentinel, amqp; memory:// in one process)")
    return value
