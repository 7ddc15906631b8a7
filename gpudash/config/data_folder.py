"""The data folder is its owner's alone: it holds the key that signs sessions, and with SQLite all that gpudash knows.

What is made here is made private (`env.folder`, `env.secret_key`, `create_database`). What an earlier version, a copy or a
restored backup has left open to others is closed at each start, with a warning: it may have been read.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

#: Files of ours in the data folder. SQLite gives its -wal and -shm the mode of the database.
_OURS = ("secret-key*", "*.sqlite3", "*.sqlite3-*", "celerybeat*", "demo-kubeconfig", "kubeconfigs/*")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def default_folder(base: Path) -> Path:
    """Where data are unless GPUDASH_DATA_DIR says otherwise. base: the folder that the code is in.

    In a checkout `var`, beside the code. Of an installed wheel the user's folder for data (XDG): an upgrade deletes what stands
    beside the code, and the current folder is another one tomorrow.
    """
    if (base / "pyproject.toml").is_file():
        return base / "var"
    chosen = os.environ.get("XDG_DATA_HOME", "")
    # The specification: a path that is not absolute is ignored.
    return Path(chosen if chosen.startswith("/") else "~/.local/share") / "gpudash"


def keep_private(folder: Path, database: Mapping[str, Any]) -> None:
    """database: of the settings; one that is no SQLite file is not looked at."""
    file = Path(database["NAME"]) if database["ENGINE"].endswith("sqlite3") else None
    if file is not None:
        create_database(file)
    _close_folder(folder)
    for path in {*_files(folder), *(_family(file) if file else ())}:
        _close_file(path)


def create_database(file: Path) -> None:
    """Make an empty SQLite database for the owner alone. One that is there, or that cannot be made, stays as it is."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return  # who connects says what is wrong


def _files(folder: Path) -> Iterator[Path]:
    for pattern in _OURS:
        yield from folder.glob(pattern)


def _family(database: Path) -> list[Path]:
    return [database.with_name(database.name + end) for end in ("", "-wal", "-shm", "-journal")]


def _close_folder(folder: Path) -> None:
    """A folder that others write into by intent (/tmp), or in which there is nothing of ours, is not ours to close."""
    mode = folder.stat()
    if not mode.st_mode & _OTHERS:
        return
    mine = mode.st_uid == os.geteuid() and not mode.st_mode & stat.S_ISVTX
    if mine and (any(_files(folder)) or not any(folder.iterdir())):
        folder.chmod(stat.S_IMODE(mode.st_mode) & ~_OTHERS)
        _warn("folder", folder, mode.st_mode)
    else:
        text = "Other users can read the data folder %s (%s). Make it private: chmod 700 %s"
        logger.warning(text, folder, stat.filemode(mode.st_mode), folder)


def _close_file(path: Path) -> None:
    """No link is followed: what it leads to need not be ours."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    try:
        mode = os.fstat(descriptor)
        if mode.st_uid == os.geteuid() and mode.st_mode & _OTHERS and stat.S_ISREG(mode.st_mode):
            os.fchmod(descriptor, 0o600)
            _warn("file", path, mode.st_mode)
    finally:
        os.close(descriptor)


def _warn(what: str, path: Path, mode: int) -> None:
    text = (
        "The %s %s was readable by other users (%s). It is now private. Other users of this machine may have read it."
    )
    logger.warning(text, what, path, stat.filemode(mode))
