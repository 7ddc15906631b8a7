"""`gpudash report key FILE` and `gpudash report verify FILE --key PUB`: without database, network or settings. Imports no Django.

`manage.py` comes here before it reads any setting, so a certificate is verified on a machine that has nothing else of gpudash.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from validations.certificate import envelope
from wording.printable import one_line

VALID, REFUSED, UNREADABLE = 0, 1, 2


def takes(words: Sequence[str]) -> bool:
    """Whether a command line (without the program) is for here."""
    if list(words[:2]) == ["report", "key"]:
        return True
    return list(words[:2]) == ["report", "verify"] and any(one.split("=")[0] == "--key" for one in words[2:])


def main(words: Sequence[str]) -> int:
    """words: those after `report`. Returns the exit code."""
    parser = ArgumentParser(prog="gpudash report")
    verbs = parser.add_subparsers(dest="verb", required=True)
    key = verbs.add_parser("key", help="make a key that signs certificates")
    key.add_argument("file", type=Path, help="private key to write; FILE.pub becomes the public key")
    verify = verbs.add_parser(
        "verify", help="verify a certificate. Exit codes: 0 valid, 1 refused, 2 the file or key cannot be read"
    )
    verify.add_argument("file", type=Path, help="the certificate")
    verify.add_argument("--key", type=Path, required=True, help="public key (PEM) of the installation that signed it")
    asked = parser.parse_args(words)
    try:
        for line in made(asked.file) if asked.verb == "key" else checked(asked.file, asked.key):
            print(one_line(line))
    except envelope.Refused as error:
        print(f"REFUSED: {one_line(str(error))}", file=sys.stderr)
        return REFUSED
    except envelope.Unreadable as error:
        print(one_line(str(error)), file=sys.stderr)
        return UNREADABLE
    return VALID


def made(file: Path) -> list[str]:
    """Write a new key. What is there stays. Raises Unreadable."""
    key, public = Ed25519PrivateKey.generate(), file.with_name(f"{file.name}.pub")
    _write(public, envelope.public_pem(key.public_key()).encode(), 0o644)
    try:
        _write(file, envelope.private_pem(key), 0o600)
    except envelope.Unreadable:
        public.unlink(missing_ok=True)
        raise
    return [
        f"Private key: {file} (mode 0600). Give it to the web processes: GPUDASH_SIGNING_KEY_FILE={file.absolute()}",
        f"Public key: {public}. Give it to readers of certificates.",
        f"Key ID: {envelope.key_id(key.public_key())}",
    ]


def checked(file: Path, key: Path) -> list[str]:
    """What a valid certificate says, in short. Raises Unreadable or Refused."""
    public = envelope.read_public(key)
    found = envelope.verified(envelope.read(file), public)
    said: dict[str, Any] = found["predicate"]
    report, counts = _object(said, "report"), _object(said, "counts")
    of = _object(report, "campaign") or _object(report, "policy")
    return [
        f"Valid: signed with the key {envelope.key_id(public)}",
        f"Result: {said.get('result')}",
        f"Report: {of.get('name') or '-'} ({of.get('id')})",
        f"Issued: {said.get('issued_at')} for {said.get('issued_for')} by gpudash {said.get('gpudash_version')}",
        "Cards: " + ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items()),
    ]


def _object(within: dict[str, Any], name: str) -> dict[str, Any]:
    found = within.get(name)
    return found if isinstance(found, dict) else {}


def _write(file: Path, data: bytes, mode: int) -> None:
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
    except FileExistsError:
        raise envelope.Unreadable(f"{file}: exists. Choose another name; old certificates need the old key.") from None
    except OSError as error:
        raise envelope.Unreadable(f"{file}: cannot be written ({error.strerror}).") from None
