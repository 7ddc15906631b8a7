"""Which server is asked, and with which token. A token is never taken from the command line, where other users see it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from .failures import Misused
from .text import one_line

#: What a header can carry and a token of gpudash has.
_TOKEN = re.compile(r"[!-~]{1,512}")
_LARGEST = 4096


def server_address(given: str | None) -> str:
    """Without a slash at its end; https where no scheme is named. Raises Misused."""
    text = given or os.environ.get("GPUDASH_SERVER", "")
    if not text:
        raise Misused("No server named: use --server or set GPUDASH_SERVER, such as https://gpudash.example.com")
    try:
        found = urlsplit(text if "://" in text else f"https://{text}")
        usable = found.scheme in ("http", "https") and found.hostname and (found.port or 1)
    except ValueError:
        usable = False
    if not usable or found.username is not None or found.query or found.fragment or not text.isprintable():
        raise Misused(
            "The server must be an address such as https://gpudash.example.com, without user, query or fragment"
        )
    return f"{found.scheme}://{found.netloc}{found.path.rstrip('/')}"


def token(file: str | None) -> str:
    """Of --token-file, GPUDASH_TOKEN, GPUDASH_TOKEN_FILE, or ~/.config/gpudash/token, the first of them. Raises Misused."""
    if not file and (text := os.environ.get("GPUDASH_TOKEN", "").strip()):
        return _checked(text, "GPUDASH_TOKEN")
    named = file or os.environ.get("GPUDASH_TOKEN_FILE")
    path = Path(named) if named else Path.home() / ".config" / "gpudash" / "token"
    try:
        with path.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            data = opened.read(_LARGEST)
    except FileNotFoundError:
        raise Misused(
            f"No token: set GPUDASH_TOKEN, or write one into {path}. `gpudash token create` makes one"
        ) from None
    except OSError as error:
        raise Misused(f"{path}: cannot be read ({error.strerror})") from None
    if os.name == "posix" and mode & 0o077:
        raise Misused(f"{path}: other users may read it. Run: chmod 600 {path}")
    return _checked(data.decode("latin-1").strip(), str(path))


def _checked(text: str, source: str) -> str:
    if not _TOKEN.fullmatch(text):
        raise Misused(f"{one_line(source)} has no token: one line of ASCII without blanks")
    return text
