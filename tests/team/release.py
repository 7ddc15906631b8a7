"""Releases of gpudash as a repository that a host can clone: the last one, and what stands in this folder now."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.docs.reading import ROOT

NOW = "now"


def git(*words: str, **environment: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return done.stdout.strip()


def last_release() -> str:
    """The last tag; where tags were not fetched, the commit that the changelog names beside its version."""
    tags = git("tag", "--list", "v*", "--sort=-v:refname", "--merged").splitlines()
    if tags:
        return tags[0]
    named = re.search(
        r"^## \[\d+\.\d+\.\d+\].*\(([0-9a-f]{7,40})\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert named, "no tag, and the changelog names no commit of a release"
    return named[1]


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
    git("push", "--quiet", str(bare), f"{last_release()}^{{commit}}:refs/heads/last-release")
    return bare
