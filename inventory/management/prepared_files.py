"""The files of `cluster prepare --output` in a folder: nothing is written over that this command did not write.

What it wrote it knows by a record in the folder: for which cluster and stack, and a digest of each file.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kube.decoders import decoder
from stacks.engine.setup import File
from wording.printable import one_line

RECORD = ".gpudash-prepare.json"


class CannotWrite(Exception):
    """Nothing was written; the text says why, and what to do."""


class _Record(msgspec.Struct):
    """files: name → SHA-256 of what was written."""

    cluster: str = ""
    stack: str = ""
    files: dict[str, str] = {}


def write(folder: Path, cluster: str, stack: str, files: Sequence[File]) -> list[str]:
    """Write the files, all or none of them; returns a line for each. Raises CannotWrite."""
    wanted = {file.name: file.text.encode() for file in files}
    shown = one_line(str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        record = _record(folder)
        if record.files and (record.cluster, record.stack) != (cluster, stack):
            raise CannotWrite(
                f"{shown} contains the files of {record.stack} for {record.cluster}. Choose another folder for --output."
            )
        strange = [name for name, text in wanted.items() if not _may_write(folder / name, text, record.files.get(name))]
        if strange:
            raise CannotWrite(
                f"{shown} contains {', '.join(strange)}, not written by this command or changed since. Move "
                "these files, or choose another folder for --output."
            )
        lines = [f"  removed: {folder / name}" for name in _remove_old(folder, wanted, record)]
        _put(folder / RECORD, msgspec.json.encode(_Record(cluster, stack, {n: _digest(t) for n, t in wanted.items()})))
        for file in files:
            _put(folder / file.name, wanted[file.name])
            lines.append(f"  written: {folder / file.name} ({file.kind}): {file.why}")
    except OSError as error:
        raise CannotWrite(
            f"--output {shown}: cannot write ({error.strerror or error}). Choose a writable folder."
        ) from None
    return lines


def _record(folder: Path) -> _Record:
    try:
        return decoder(_Record).decode((folder / RECORD).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Record()


def _may_write(path: Path, text: bytes, written: str | None) -> bool:
    """Whether there is nothing, the same, or what was written before."""
    if path.is_symlink():
        return False
    try:
        there = path.read_bytes()
    except FileNotFoundError:
        return True
    except IsADirectoryError:
        return False
    return there == text or _digest(there) == written


def _remove_old(folder: Path, wanted: dict[str, bytes], record: _Record) -> list[str]:
    """Files that were written before, are as they were, and are not needed any more."""
    gone = []
    for name, digest in record.files.items():
        path = folder / name
        plain = "/" not in name and name not in wanted and path.is_file() and not path.is_symlink()
        if plain and _digest(path.read_bytes()) == digest:
            path.unlink()
            gone.append(name)
    return gone


def _put(path: Path, text: bytes) -> None:
    """The whole file or nothing, beside whatever is in the folder."""
    opened, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(text)
        Path(part).chmod(0o644)
        Path(part).replace(path)
    except OSError:
        Path(part).unlink(missing_ok=True)
        raise


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
