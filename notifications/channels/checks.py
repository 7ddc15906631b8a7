"""Checks of settings: each raises ValueError with what to enter. They see the text of a form
only; addresses are checked when sending.

Nothing that passes can end a header, name a user, or lead a vendor's message to another host.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from wording.said import sentence

Check = Callable[[str], None]
#: Characters of an address; none of them ends a line, and programs read the host of it alike.
_ADDRESS = re.compile(r"[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]{1,2000}")
_HOST = re.compile(
    r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?", re.I
)
_MAILBOX = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


def https_address(hosts: Sequence[str], path: str) -> Check:
    """An address of a vendor. hosts: names, or "*.name" for all below it. path: the address's, or what it begins with before "/"."""

    def check(text: str) -> None:
        host, found = _parsed(text, ("https",))
        if not any(host.endswith(one[1:]) if one.startswith("*.") else host == one for one in hosts):
            raise ValueError(sentence("The host must be {hosts}.", hosts=_either(hosts)))
        if found != path if not path.endswith("/") else not found.startswith(path) or found == path:
            raise ValueError(sentence("The path must start with {path}. Copy the whole address.", path=path))

    return check


def any_address(text: str) -> None:
    """http or https, any host: which hosts may be called is decided when sending."""
    _parsed(text, ("https", "http"))


def query_has(name: str, check: Check) -> Check:
    """Also a parameter of this name, which has the token."""

    def checked(text: str) -> None:
        check(text)
        if not re.search(rf"[?&]{name}=[^&]+", text):
            raise ValueError(sentence("The address must contain {name}=. Copy the whole address.", name=name))

    return checked


def _parsed(text: str, schemes: Sequence[str]) -> tuple[str, str]:
    """Host and path."""
    starts = " or ".join(f"{scheme}://" for scheme in schemes)
    if not _ADDRESS.fullmatch(text):
        raise ValueError(sentence("Enter an address without blanks, # and other special characters."))
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise ValueError(sentence("Enter an address that starts with {starts}.", starts=starts)) from None
    if parts.scheme not in schemes or not host or not (_HOST.fullmatch(host) or ":" in host) or port == 0:
        raise ValueError(sentence("Enter an address that starts with {starts}.", starts=starts))
    if "@" in parts.netloc:
        raise ValueError(sentence("Enter the address without user and password."))
    return host, parts.path


def each(check: Check, most: int) -> Check:
    """Every one of several words."""

    def checked(text: str) -> None:
        found = words(text)
        if not 1 <= len(found) <= most:
            raise ValueError(sentence("Enter 1 to {most} values, separated by blanks.", most=most))
        for word in found:
            check(word)

    return checked


def words(text: str) -> list[str]:
    """Between blanks or commas."""
    return [word for word in re.split(r"[\s,]+", text) if word]


def signing_key(secret: str) -> bytes:
    """The key of a Standard Webhooks secret. Raises ValueError."""
    try:
        made = base64.b64decode(secret.removeprefix("whsec_"), validate=True) if secret.startswith("whsec_") else b""
    except (binascii.Error, ValueError):
        made = b""
    if not 24 <= len(made) <= 64:
        raise ValueError(sentence("Enter whsec_ and 24 to 64 random bytes in base64: openssl rand -base64 32"))
    return made


def signing_secret(word: str) -> None:
    """One secret of Standard Webhooks."""
    signing_key(word)


def header_text(text: str) -> None:
    """What goes into a header: printable ASCII, at most 500 characters."""
    if not re.fullmatch(r"[ -~]{0,500}", text):
        raise ValueError(sentence("Use printable ASCII characters only, 500 at most."))


def short_line(text: str) -> None:
    """One line of at most 100 characters."""
    if not text.isprintable() or len(text) > 100:
        raise ValueError(sentence("Enter one line, 100 characters at most."))


def password(text: str) -> None:
    """Any text without line ends and NUL, at most 500 characters."""
    if len(text) > 500 or re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError(sentence("Enter one line, 500 characters at most."))


def pattern(wanted: str, example: str) -> Check:
    """The whole text by this pattern."""

    def check(text: str) -> None:
        if not re.fullmatch(wanted, text, re.ASCII):
            raise ValueError(sentence("Enter a value such as {example}.", example=example))

    return check


def host_name(text: str) -> None:
    """A name or an address, without port."""
    if not (_HOST.fullmatch(text) or re.fullmatch(r"[0-9a-fA-F:.]{2,45}", text)):
        raise ValueError(sentence("Enter a host name such as {example}.", example="smtp.example.org"))


def port_number(text: str) -> None:
    """1 to 65535."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text) or int(text) > 65_535:
        raise ValueError(sentence("Enter a port from 1 to 65535."))


def mailbox(text: str) -> None:
    """user@host, ASCII."""
    if not _MAILBOX.fullmatch(text):
        raise ValueError(sentence("Enter an e-mail address such as {example}.", example="gpu-team@example.org"))


def _either(hosts: Sequence[str]) -> str:
    return " or ".join(hosts)
