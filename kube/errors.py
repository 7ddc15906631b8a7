"""What can go wrong with a call to an API server, and its text without a secret."""

from __future__ import annotations

import ssl

import urllib3

from wording.said import Said, sentence


class ApiError(Exception):
    """The API server refused or failed. `status` is the HTTP status (0: it was not reached); `retry_after_s` what it asked for.

    call: verb and resource, as in "list pods", where the caller says what it wanted.
    """

    call = ""

    def __init__(self, status: int, reason: str, message: str, retry_after_s: float | None = None) -> None:
        # What the server says is its own; what we say of a server that was not reached stays the sentence that it is.
        if "\0" in reason or "\0" in message:  # no table takes it
            reason, message = reason.replace("\0", ""), message.replace("\0", "")
        said = f"{status} {reason}: {message}".removesuffix(": ") if status else message
        if status and isinstance(message, Said):
            said = sentence("{status} {reason}: {message}", status=status, reason=reason, message=message)
        super().__init__(said)
        self.status, self.reason, self.message, self.retry_after_s = status, reason, message, retry_after_s


class TooLarge(ApiError):
    """What the API server sends is more than is read of it, or than there is room for. Less of it may be asked for."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "TooLarge", message)


class NoRoom(TooLarge):
    """There is no room now for more of an answer that was begun. needed: bytes that it takes at least."""

    def __init__(self, message: str, needed: int) -> None:
        super().__init__(message)
        self.needed = needed


def plain(error: BaseException) -> str:
    """An error's text in one short line, without objects' addresses and without anything that may hold a credential."""
    if isinstance(error, urllib3.exceptions.NameResolutionError):
        return sentence("name lookup failed")
    if isinstance(error, urllib3.exceptions.NewConnectionError | urllib3.exceptions.ConnectTimeoutError):
        return sentence("connection refused or timed out")
    if isinstance(error, urllib3.exceptions.ReadTimeoutError):
        return sentence("timed out without a response")
    if isinstance(error, urllib3.exceptions.SSLError | ssl.SSLError):
        return sentence("TLS: {error}", error=str(error).split("] ")[-1][:200])
    if isinstance(error, urllib3.exceptions.ProxyError):
        return sentence("the proxy refused the connection or is unreachable")
    text = str(error).split("\n", 1)[0]
    return (text[:300] if "earer" not in text else type(error).__name__) or type(error).__name__
