"""gpudash as a repository that a host can clone: what stands in this folder now, with a tag of a release."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.docs.reading import ROOT

NOW = "now"


def git(*words: str, **environment: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """A bare repository with the branch `main` as this folder stands, also what is not committed, and the history before it."""
    bare = folder / "gpudash.git"
    index = str(folder / "index")
    git("read-tree", "HEAD", GIT_INDEX_FILE=index)
    git("add", "--all", GIT_INDEX_FILE=index)
    tree = git("write-tree", GIT_INDEX_FILE=index)
    who = {f"GIT_{part}_{what}": "test@localhost" for part in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    commit = git("commit-tree", tree, "-p", "HEAD", "-m", "The folder as it stands", **who)
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(bare)], check=True)
    git("push", "--quiet", str(bare), f"{commit}:refs/heads/main", f"{commit}:refs/tags/{NOW}")
    return bare
