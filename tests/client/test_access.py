"""Which server, and whose token: from where they are taken, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from client.access import server_address, token
from client.failures import Misused
from client.main import main
from client.server import Server

TOKEN = "gpd_1_secret-Word"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("GPUDASH_SERVER", "GPUDASH_TOKEN", "GPUDASH_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def written(path: Path, text: str = f"{TOKEN}\n", mode: int = 0o600) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("gpudash.example.com", "https://gpudash.example.com"),
        ("https://gpudash.example.com/gpu/", "https://gpudash.example.com/gpu"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("[::1]:8000", "https://[::1]:8000"),
    ],
)
def test_addresses(given: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server_address(given) == address
    monkeypatch.setenv("GPUDASH_SERVER", given)
    assert server_address(None) == address
    assert server_address("other") == "https://other"


@pytest.mark.parametrize(
    "given",
    [
        "ftp://x",
        "https://",
        "https://a:b@x",
        "https://x?y",
        "https://x#y",
        "https://x:port",
        "https://[",
        "https://x\n",
    ],
)
def test_what_is_no_address(given: str) -> None:
    with pytest.raises(Misused, match="must be an address"):
        server_address(given)


def test_the_token_is_taken_from_the_first_place_that_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(home / ".config" / "gpudash" / "token", "default")
    assert token(None) == "default"
    monkeypatch.setenv("GPUDASH_TOKEN_FILE", written(home / "file", "of-file"))
    assert token(None) == "of-file"
    monkeypatch.setenv("GPUDASH_TOKEN", " of-environment\n")
    assert token(None) == "of-environment"
    assert token(written(home / "option", "of-option")) == "of-option"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_may_read_is_refused(home: Path, mode: int) -> None:
    path = written(home / "token", mode=mode)
    with pytest.raises(Misused, match=f"{path}: other users may read it. Run: chmod 600 {path}"):
        token(path)


@pytest.mark.parametrize("text", ["", "two words", "a\nb", "ключ", "x" * 600])
def test_what_is_no_token_is_not_sent_and_not_printed(home: Path, text: str) -> None:
    with pytest.raises(Misused, match="has no token: one line of ASCII without blanks") as refused:
        token(written(home / "token", text))
    assert not text or text not in str(refused.value)


def test_no_token_and_a_folder(home: Path) -> None:
    with pytest.raises(Misused, match=r"No token: set GPUDASH_TOKEN, or write one into .*/\.config/gpudash/token"):
        token(None)
    with pytest.raises(Misused, match="cannot be read"):
        token(str(home))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "the following arguments are required: VERB. See: kubectl gpudash --help"),
        (["free"], "No server named: use --server or set GPUDASH_SERVER, such as https://gpudash.example.com"),
        (
            ["free", "--server", "x", "--token", TOKEN],
            "unrecognized arguments: --token gpd_…. See: kubectl gpudash --help",
        ),
        (["free", "--server", "x", "--token-file", TOKEN], "No token: set GPUDASH_TOKEN, or write one into gpd_…."),
        (["free", "--limit", "0"], "argument --limit: must be 1 to 10000. See: kubectl gpudash free --help"),
        (["free", "-o", "yaml"], "argument -o: invalid choice: 'yaml'"),
        (["validate", "x", "--cards", "0,0"], "argument --cards: must be different cards, separated by commas."),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {told}")
    assert err.count("\n") == 1
    assert TOKEN not in err


def test_no_ca_certificates(home: Path) -> None:
    for path in (home / "none", Path(written(home / "empty", "no certificate"))):
        with pytest.raises(Misused, match="no CA certificates can be read"):
            Server("https://x", TOKEN, str(path))
