"""Which files with credentials a worker reads. A row names them, and whoever can write rows must not choose what a worker runs.

A kubeconfig can name a program that is run to get credentials, and a token is sent to the address beside it. So with
GPUDASH_CREDENTIAL_FOLDERS a file is taken from these folders only, which the processes of gpudash cannot write to.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from wording.said import sentence


def refused(path: str) -> str:
    """Why the file is not read; "" when it is, and for no file. What links lead to counts, not where they are."""
    folders: list[str] = settings.CREDENTIAL_FOLDERS
    if not path or not folders:
        return ""
    try:
        found = Path(path).resolve()
        inside = any(found.is_relative_to(Path(folder).resolve()) for folder in folders)
    except (OSError, RuntimeError, ValueError):
        inside = False
    if inside:
        return ""
    return sentence(
        "{path} is in none of the folders that credentials are read from (GPUDASH_CREDENTIAL_FOLDERS: {folders})",
        path=path[:500],
        folders=", ".join(folders),
    )
