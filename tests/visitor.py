"""Somebody who looks at a running gpudash from outside, as a browser and as a program do."""

from __future__ import annotations

import http.cookiejar
import json
import re
import urllib.parse
import urllib.request
from typing import Any


class Visitor:
    """Somebody who opened the link that the demo printed, and a program with a token."""

    def __init__(self, link: str, token: str = "") -> None:
        self.root = link.partition("/sign-in/")[0]
        self._token = token
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        form = self._opener.open(link, timeout=30).read().decode()
        hidden = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert hidden, form[:500]
        data = urllib.parse.urlencode({"csrfmiddlewaretoken": hidden[1]}).encode()
        self._opener.open(urllib.request.Request(link, data, {"Referer": link}), timeout=30)

    def get(self, path: str, language: str = "en") -> str:
        asked = urllib.request.Request(self.root + path, headers={"Accept-Language": language})
        text: str = self._opener.open(asked, timeout=30).read().decode()
        return text

    def page(self, path: str, language: str = "en") -> str:
        """What is read there: without tags."""
        text = self.get(path, language)
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))

    def all(self, path: str) -> list[dict[str, Any]]:
        """All rows of a list."""
        found: list[dict[str, Any]] = []
        url: str | None = f"{self.root}/api/v1/{path}"
        while url:
            asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {self._token}"})
            answer = json.load(urllib.request.urlopen(asked, timeout=30))
            found, url = found + answer["results"], answer["next"]
        return found
