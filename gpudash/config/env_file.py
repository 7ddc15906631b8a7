"""The file that holds the settings of a production installation: services get it from systemd, commands read it here.

Without it, a command that an administrator types would work on another database than the services, and say nothing.
The form is the common part of systemd's EnvironmentFile and a shell's: NAME=value, NAME="value" or NAME='value', # for comments.
A backslash outside of single quotes is refused, since systemd and shells read it differently. No value is ever repeated.
"""

from __future__ import annotations

import os
import pwd
import re
from pathlib import Path

from gpudash.config.env import BadSetting, asked

#: Where docs/team.md puts it.
DEFAULT = "/etc/gpudash/gpudash.env"
_LINE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)")
_VALUE = re.compile(r"""'(?P<single>[^']*)'|"(?P<double>[^"\\]*)"|(?P<bare>[^'"\\\s]*(?:[ \t]+[^'"\\\s]+)*)""")


def load(setting: str) -> None:
    """Put what the file says into the environment; what is there already stays. Raises BadSetting.

    setting: the variable that names another file; empty: none is read.

    Read where GPUDASH_ENV is not set yet: a service got it from systemd or from its container.
    """
    asked.add(setting)
    chosen = os.environ.get(setting)
    if chosen == "" or (chosen is None and os.environ.get("GPUDASH_ENV")):
        return
    path = Path(chosen or DEFAULT)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if chosen:
            raise BadSetting(setting, f"the file {path} does not exist") from None
        return
    except PermissionError:
        raise BadSetting(setting, _unreadable(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(setting, f"cannot read the file {path} ({type(error).__name__})") from None
    for name, value in _parsed(setting, path, text).items():
        os.environ.setdefault(name, value)


def _unreadable(path: Path) -> str:
    """Going on with a database of one's own instead would look like success."""
    try:
        who = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        who = f"user {os.geteuid()}"
    return (
        f"{who} cannot read the settings of this installation in {path}. Run the command as the user of the "
        "installation (docs/team.md), or set GPUDASH_ENV=local for a local installation"
    )


def _parsed(setting: str, path: Path, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        match = _LINE.fullmatch(line)
        value = _VALUE.fullmatch(match["value"].strip()) if match else None
        if match is None or value is None:
            raise BadSetting(setting, f"{path}, line {number}: must be NAME=value; put values with quotes or \\ in '…'")
        found[match["name"]] = next((part for part in value.groups() if part is not None), "")
    return found
