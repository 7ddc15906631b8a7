"""The image: built from deploy/Dockerfile on a base of plain Debian packages, and started as docker-compose.yml starts it.

buildah and podman of Debian are enough; no registry of images is asked. The base is made once and kept in the cache. Images have a
folder of their own there: layers are mounted (overlay), where a copy for each container would keep the disk busy for minutes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpudash import __version__
from tests import services
from tests.docs.reading import ROOT
from tests.services import Missing, free_port, wait_until
from tools.sbom import debian_packages

pytestmark = [pytest.mark.team, pytest.mark.timeout(1500)]

BASE, IMAGE = "localhost/gpudash-base", "localhost/gpudash-test"
PACKAGES = "python3,python3-venv,ca-certificates"
#: Files that a careless folder has; none may be in the image.
PRIVATE = (
    ".env",
    "var/secret-key",
    "var/gpudash.sqlite3",
    "prod.kubeconfig",
    "deploy/tls.key",
    "gpudash/.env",
    "notes.txt",
)
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gpudash-images"
STORE = ("--root", str(CACHE), "--runroot", "/run/gpudash-images", "--storage-driver", "overlay")
START_S = 180


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Built from a copy of this folder in which private files lie."""
    lacking = [name for name in ("buildah", "podman", "debootstrap") if shutil.which(name) is None]
    if lacking or os.geteuid() != 0:
        services.or_skip(
            Missing(f"{', '.join(lacking) or 'root'} missing; Debian: apt-get install buildah podman debootstrap")
        )
    _base()
    folder = tmp_path_factory.mktemp("context")
    _copy_of_this_folder(folder)
    for name in PRIVATE:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("SECRET-OF-THE-FOLDER")
    certificates = "/etc/ssl/certs/ca-certificates.crt"
    registry = (f"--volume={certificates}:{certificates}:ro", f"--env=PIP_CERT={certificates}")
    files = ("--ignorefile", str(folder / ".dockerignore"), "--file", str(folder / "deploy" / "Dockerfile"))
    how = ("--isolation=chroot", "--network=host", "--layers=false", f"--build-arg=BASE={BASE}", f"--tag={IMAGE}")
    _buildah("build", *how, *registry, *files, str(folder))
    yield IMAGE
    _buildah("rmi", IMAGE)


def _copy_of_this_folder(folder: Path) -> None:
    """What git knows of, and what it does not ignore."""
    listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(["git", "-C", str(ROOT), *listed], check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def _base() -> None:
    """A minimal Debian with Python, from its packages."""
    if subprocess.run(["buildah", *STORE, "inspect", "--type=image", BASE], capture_output=True).returncode == 0:
        return
    sources = Path("/etc/apt/sources.list.d/debian.sources")
    line = next(line for line in sources.read_text().splitlines() if line.startswith("URIs:"))
    with services.scratch("base") as folder:
        root = folder / "root"
        options = ("--variant=minbase", f"--include={PACKAGES}", "bookworm", str(root), line.split()[1])
        subprocess.run(["debootstrap", *options], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(root / "var" / "cache" / "apt", ignore_errors=True)
        made = _buildah("from", "scratch")
        subprocess.run(["tar", "-C", str(root), "-cf", str(folder / "root.tar"), "."], check=True)
        _buildah("add", made, str(folder / "root.tar"), "/")
        _buildah("commit", "--quiet", made, BASE)
        _buildah("rm", made)


def _buildah(*words: str) -> str:
    done = subprocess.run(["buildah", *STORE, *words], capture_output=True, text=True)
    assert done.returncode == 0, f"buildah {words[0]}: {done.stderr[-3000:]}"
    return done.stdout.strip()


def podman(*words: str) -> list[str]:
    """podman, where neither raising limits nor a mixture of cgroup versions is allowed (as in some virtual machines)."""
    ready = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec podman "$@"'
    return ["unshare", "--mount", "sh", "-c", ready, "podman", *STORE, *words]


def closed() -> list[str]:
    """What docker-compose.yml takes from its processes, as options of podman."""
    one = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["x-gpudash"]
    options = ["--read-only"] if one["read_only"] else []
    options += [f"--cap-drop={name}" for name in one["cap_drop"]]
    options += [f"--security-opt={text.removesuffix(':true')}" for text in one["security_opt"]]
    return options + [f"--tmpfs={path}" for path in one["tmpfs"]]


def run_words(*words: str, **settings: str) -> list[str]:
    given = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
    limits = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000", "--cgroups=disabled", "--network=host")
    return podman("run", "--rm", *limits, *closed(), *given, IMAGE, *words)


def inside(*words: str, **settings: str) -> str:
    done = subprocess.run(run_words(*words, **settings), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_nothing_private_of_the_folder_is_in_it(image: str) -> None:
    found = inside("sh", "-c", "grep -rl SECRET-OF-THE-FOLDER /venv /var /home /opt /srv || true")
    assert found == ""


def test_it_is_the_wheel(image: str) -> None:
    """As `pip` installs it: what is in the wheel is tested in tests/wheel."""
    assert inside("gpudash", "--version") == f"gpudash {__version__}\n"
    listed = inside("sh", "-c", "ls -d /venv/lib/python3*/site-packages/gpudash*; ls /")
    assert [name.rpartition("/")[2] for name in listed.split() if "gpudash" in name] == [
        f"gpudash-{__version__}.dist-info",
        "gpudash_app",
    ]
    assert not {"app", "source", "wheel"} & set(listed.split())


def test_its_user_is_not_root_and_cannot_change_the_code(image: str) -> None:
    assert inside("id", "-u").strip() == "10001"
    assert "no" in inside(
        "sh", "-c", "test -w /venv/bin/gpudash || test -w /venv/lib/python3*/site-packages/gpudash_app || echo no"
    )


def test_it_can_write_nothing_but_what_goes_with_it_and_has_no_capability(image: str) -> None:
    places = "/ /venv /etc /home/gpudash /var/lib/gpudash /tmp"
    written = f"for place in {places}; do touch $place/x 2>/dev/null && echo $place; done; true"
    assert inside("sh", "-c", written).split() == ["/var/lib/gpudash", "/tmp"]
    status = dict(line.split(":\t", 1) for line in inside("cat", "/proc/self/status").splitlines() if ":\t" in line)
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")} == {0}
    assert status["NoNewPrivs"] == "1"
    others = inside("find", "/venv", "-not", "-user", "root", "-print", "-quit")
    assert others == "", "the code is root's"


def test_the_probe_of_its_workers_on_kubernetes_works_in_it(image: str) -> None:
    things = yaml.safe_load_all((ROOT / "deploy" / "kustomize" / "base" / "watch.yaml").read_text())
    (watch,) = [one["spec"]["template"]["spec"]["containers"][0] for one in things if one["kind"] == "Deployment"]
    (file,) = [row["value"] for row in watch["env"] if row["name"] == "GPUDASH_ALIVE_FILE"]
    asked = 'touch -d "$AGE" "$FILE" && "$@" && echo alive || echo not alive'
    for age, told in (("9 minutes ago", "alive"), ("12 minutes ago", "not alive")):
        words = ("sh", "-c", asked, "sh", *watch["livenessProbe"]["exec"]["command"])
        assert inside(*words, AGE=age, FILE=file).strip() == told


def test_its_debian_packages_can_be_listed(image: str) -> None:
    """As docs/security.md has them listed, for a scanner."""
    listed = inside("dpkg-query", "--show", "--showformat", "${Package} ${Version} ${Architecture}\\n")
    names = {component["name"] for component in debian_packages(listed)}
    assert {"ca-certificates", "libc6", "python3"} <= names


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """The environment of docker-compose.yml, with a PostgreSQL and a Redis on the loopback and a password that would break a URL."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["x-gpudash"]["environment"]
    with services.postgres() as server, services.redis() as broker:
        server.create("gpudash")
        yield {
            **{name: value for name, value in compose.items() if "${" not in value},
            "GPUDASH_SECRET_KEY": "k" * 60,
            "GPUDASH_ALLOWED_HOSTS": "gpudash.example.com",
            "GPUDASH_BEHIND_PROXY": "true",
            "GPUDASH_DATABASE_URL": server.url("gpudash"),
            "GPUDASH_DATABASE_PASSWORD": "p@ss/w#rd?",
            "GPUDASH_BROKER_URL": broker,
        }


def test_each_service_of_the_compose_file_starts_from_it(
    image: str, environment: dict[str, str], tmp_path: Path
) -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    own = {name: one["command"].split() for name, one in compose.items() if name not in ("postgres", "redis")}
    assert own.keys() == {"migrate", "web", "watch", "launch", "tasks", "usage", "schedule"}
    inside(*own.pop("migrate"), **environment)
    port = free_port()
    running = []
    try:
        for name, command in own.items():
            words = [word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in command if "--probes=" not in word]
            log = (tmp_path / f"{name}.log").open("wb")
            running.append(subprocess.Popen(run_words(*words, **environment), stdout=log, stderr=log))
        try:
            wait_until(lambda: all(part["ok"] for part in _parts(port).values()), "all parts are ready", START_S, 1)
        except AssertionError as error:
            tails = "\n".join(f"--- {log.name}\n{log.read_text()[-2000:]}" for log in sorted(tmp_path.glob("*.log")))
            raise AssertionError(f"{error}\n{_parts(port)}\n{tails}") from error
        assert [process.poll() for process in running] == [None] * len(running)
    finally:
        for process in running:
            services.end(process)


def _parts(port: int) -> dict[str, dict[str, Any]]:
    """What /readyz says of each part; one part that is not ready where nothing answers."""
    done = subprocess.run(
        ["curl", "--silent", "--max-time", "5", f"http://127.0.0.1:{port}/readyz"], capture_output=True
    )
    if not done.stdout.startswith(b"{"):
        return {"web": {"ok": False, "reason": f"no answer: {done.stdout[:200]!r}"}}
    parts: dict[str, dict[str, Any]] = json.loads(done.stdout)["parts"]
    return parts
