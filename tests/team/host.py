"""A host for a team's installation: a container with a systemd of its own over this machine's files, thrown away afterwards.

What is written in it goes into a layer of its own (overlayfs); its network is its own loopback, so that every port is free and
nothing leaves it. systemd, PostgreSQL, Redis and nginx in it are the real ones, as Debian's packages start them.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.services import Missing, end, wait_until

PROGRAMS = ("systemd-nspawn", "nsenter", "mount", "umount")
#: As a login of root has it; nothing of this machine's environment gets in.
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
#: How this machine reaches its package registries, for the steps that install packages.
REGISTRY_NAMES = (
    "PIP_",
    "NPM_CONFIG_REGISTRY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT",
)
BOOT_S = 120.0
_CLONE_NEWNET = 0x40000000


class Failed(AssertionError):
    """A command of the page did not work; the text has what it printed."""


class Host:
    """Boots at once. Raises Missing where the machine cannot do it."""

    def __init__(self, binds: dict[Path, str]) -> None:
        """binds: what of this machine is shown (read-only), and where."""
        _check_machine()
        self.folder = Path(tempfile.mkdtemp(prefix="gpudash-host-"))
        self.root = self.folder / "root"
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir()
        layers = f"lowerdir=/,upperdir={self.folder / 'upper'},workdir={self.folder / 'work'}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, str(self.root)], check=True)
        self._clean_slate()
        shown = [f"--bind-ro={source}:{target}" for source, target in binds.items()]
        command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--boot"]
        command += ["--machine=team", "--console=pipe", f"--directory={self.root}", *shown]
        self._log = (self.folder / "boot.log").open("wb")
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, start_new_session=True
        )
        #: The network of this machine, for steps that fetch packages.
        self._outside = os.open("/proc/self/ns/net", os.O_RDONLY)
        try:
            wait_until(self._booted, "the host has booted", BOOT_S, 0.5)
            self._default_route()
        except AssertionError:
            self.close()
            raise

    def _clean_slate(self) -> None:
        """An installation of this machine, or a rule that keeps services from starting, must not be seen."""
        for name in ("etc/gpudash", "opt/gpudash", "var/lib/gpudash", "usr/sbin/policy-rc.d", "usr/local/bin/gpudash"):
            path = self.root / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        (self.root / "etc" / "machine-id").write_text("")
        (self.root / "etc" / "hosts").write_text("127.0.0.1 localhost gpudash.example.com\n")

    def _default_route(self) -> None:
        """An API server looks for one to find the address that it gives out. It leads nowhere."""
        self.run(
            "ip link add eth0 type veth peer name eth1 && ip address add 192.0.2.1/24 dev eth0 "
            "&& ip link set eth0 up && ip link set eth1 up && ip route add default dev eth0"
        )

    @property
    def leader(self) -> int:
        """Process id of its systemd."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return int(children[0]) if children else 0

    def _booted(self) -> bool:
        if self._process.poll() is not None:
            raise AssertionError(f"the host did not boot:\n{self.boot_log()}")
        if not self.leader:
            return False
        try:
            state = self.run("systemctl is-system-running", check=False)
        except OSError:
            return False
        return state.strip() in ("running", "degraded")

    def boot_log(self) -> str:
        return (self.folder / "boot.log").read_text(errors="replace")[-3000:]

    def enter_network(self) -> None:
        """Put the calling thread, and threads that it starts later, into the host's network."""
        with Path(f"/proc/{self.leader}/ns/net").open() as network:
            if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")

    def leave_network(self) -> None:
        if ctypes.CDLL(None, use_errno=True).setns(self._outside, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def run(
        self,
        command: str,
        stdin: str = "",
        check: bool = True,
        registries: bool = False,
        folder: str = "/root",
        timeout_s: float = 300.0,
        **environment: str,
    ) -> str:
        """What a shell of root prints (both streams). registries: with this machine's network. Raises Failed."""
        network = f"--net=/proc/{os.getpid()}/fd/{self._outside}" if registries else f"--net=/proc/{self.leader}/ns/net"
        inside = ["nsenter", f"--target={self.leader}", "--mount", "--uts", "--ipc", "--pid", network, "--"]
        given = {**ENVIRONMENT, **(_registries() if registries else {}), **environment}
        words = ["env", "-i", f"--chdir={folder}", *(f"{name}={value}" for name, value in given.items())]
        done = subprocess.run(
            [*inside, *words, "bash", "-c", command],
            input=stdin.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            start_new_session=True,  # no terminal: what asks for a password reads it from standard input
        )
        said = done.stdout.decode(errors="replace")
        if check and done.returncode != 0:
            raise Failed(f"$ {command}\n{said[-4000:]}\n(exit code {done.returncode})")
        return said

    def write(self, path: str, text: str) -> None:
        """Write into a file as root does, keeping its owner and mode where it is there."""
        self.run(f"cat > {path}", stdin=text)

    def journal(self) -> str:
        return self.run("journalctl --no-pager --lines=60 --unit='gpudash-*' | cut -c1-400", check=False)

    def close(self) -> None:
        self.leave_network()
        os.close(self._outside)
        end(self._process, 30.0)
        self._log.close()
        subprocess.run(["umount", "--lazy", str(self.root)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def _registries() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(REGISTRY_NAMES)}


def _check_machine() -> None:
    if os.geteuid() != 0:
        raise Missing("a host with its own systemd can only be started by root")
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if not Path("/sbin/init").exists():
        lacking.append("/sbin/init")
    if lacking:
        raise Missing(f"{', '.join(lacking)} missing; Debian: apt-get install systemd-container systemd-sysv dbus")
