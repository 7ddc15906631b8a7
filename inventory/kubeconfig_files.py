"""Kubeconfigs that were uploaded: a file for each cluster in the data folder, readable by the user of this process alone.

Only where one process serves the pages and reads the clusters (`demo`, `standalone`) may a page store one. A team's web process
holds no credentials of clusters, and has no way to.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from wording.said import sentence

logger = logging.getLogger(__name__)

#: As clusters are named: no name leads out of the folder, and none begins with a dot.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)
#: What a process that was killed has left beside the files is deleted after this.
_LEFT_S = 3600.0


class CannotStore(Exception):
    """The data folder takes no file; says why."""


def may_store() -> bool:
    """Whether a page may store kubeconfigs here. Not where the installation says from which folders alone they are read."""
    return bool(settings.ONE_PROCESS) and not settings.CREDENTIAL_FOLDERS


def is_stored(path: str) -> bool:
    """Whether this is one of the files of this module."""
    return bool(path) and Path(path).parent == _folder()


@contextmanager
def offered(name: str, text: bytes) -> Iterator[Path]:
    """A file with this text beside that of the cluster, for the time of a check. Raises CannotStore."""
    if not _NAME.fullmatch(name):
        raise ValueError("not the name of a cluster")
    folder = _folder()
    offer = folder / f".{name}.{secrets.token_hex(8)}"
    try:
        _open_folder(folder)
        _write(offer, text)
    except OSError as error:
        with suppress(OSError):
            offer.unlink()
        raise CannotStore(
            sentence("{folder}: cannot store the kubeconfig ({why})", folder=str(folder), why=error.strerror or "")
        ) from None
    try:
        yield offer
    finally:
        offer.unlink(missing_ok=True)


@contextmanager
def stored(offer: Path, name: str) -> Iterator[Path]:
    """What was offered is the cluster's file from now on; what was there before is back where the block raises."""
    path, before = offer.with_name(f"{name}.yaml"), offer.with_name(f"{offer.name}.before")
    with suppress(FileNotFoundError):
        os.link(path, before, follow_symlinks=False)
    offer.replace(path)
    try:
        yield path
    except BaseException:
        if before.exists():
            before.replace(path)
        else:
            path.unlink(missing_ok=True)
        raise
    finally:
        before.unlink(missing_ok=True)


def discard(path: str) -> None:
    """Of a cluster that is gone, or has its credentials elsewhere now; any other file stays."""
    if not is_stored(path):
        return
    try:
        Path(path).unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s is not used any more and cannot be deleted: %s", path, error.strerror)


def _folder() -> Path:
    return Path(settings.DATA_DIR).absolute() / "kubeconfigs"


def _open_folder(folder: Path) -> None:
    """Make it, or see that it is ours; delete what was left in it. Raises OSError; for a link too."""
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o700:
            os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)
    old = time.time() - _LEFT_S
    for left in folder.glob(".*"):
        if left.lstat().st_mtime < old:
            left.unlink()


def _write(path: Path, text: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)
