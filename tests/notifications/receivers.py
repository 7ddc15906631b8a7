"""Vendors that answer as the real ones do, refusals included (facts: the vendors' documents).

Each is a function of a request; `receiving.Receiver` is the server around it. `…_shows`: the mentions and links that it would show.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from tests.notifications.receiving import Clock, Request, Response, Vendor


def _json(status: int = 200, /, **fields: Any) -> Response:
    return Response(status, json.dumps(fields, ensure_ascii=False).encode(), {"content-type": "application/json"})


def _sha256(key: bytes, text: bytes) -> str:
    return base64.b64encode(hmac.digest(key, text, hashlib.sha256)).decode()


def standard_webhooks(secret: str, clock: Clock) -> Vendor:
    """Checks as the specification's libraries: id, time ± 5 min, one of the signatures. An id that it has is dropped."""
    seen: set[str] = set()

    def vendor(request: Request) -> Response:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        identity, stamp = request.headers["webhook-id"], request.headers["webhook-timestamp"]
        if abs(clock() - int(stamp)) > 300:
            return Response(400, b"Message timestamp too old")
        wanted = "v1," + _sha256(key, f"{identity}.{stamp}.".encode() + request.body)
        if wanted not in request.headers["webhook-signature"].split(" "):
            return Response(401, b"No matching signature found")
        if len(request.body) >= 20_000:
            return Response(413, b"payload too large")
        again = identity in seen
        seen.add(identity)
        return Response(200 if again else 204)

    return vendor


def slack(path: str) -> Vendor:
    """Incoming webhooks: "ok" as text; limits of blocks."""

    def vendor(request: Request) -> Response:
        if request.path != path:
            return Response(404, b"no_service")
        payload = request.json
        if not payload.get("text"):
            return Response(400, b"no_text")
        blocks = payload.get("blocks", [])
        return (
            Response(400, b"invalid_blocks")
            if len(blocks) > 50 or not all(map(_block_is_right, blocks))
            else Response(body=b"ok")
        )

    return vendor


def _block_is_right(block: dict[str, Any]) -> bool:
    if block["type"] == "section":
        return 1 <= len(block["text"]["text"]) <= 3000
    if block["type"] == "header":
        return block["text"]["type"] == "plain_text" and 1 <= len(block["text"]["text"]) <= 150
    elements = [one for section in block["elements"] for one in section["elements"]]
    return block["type"] == "rich_text" and all(one["type"] in ("text", "link") and one["text"] for one in elements)


def slack_shows(payload: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Mentions, and addresses of links: of `text` what is between < and >, of rich text the elements."""
    marks = re.findall(r"<([^>]*)>", payload["text"])
    elements = [one for block in payload["blocks"] for section in block["elements"] for one in section["elements"]]
    mentions = [one for one in marks if one[:1] in "!@#"] + [
        one["type"] for one in elements if one["type"] not in ("text", "link")
    ]
    return mentions, [one for one in marks if one[:1] not in "!@#"] + [
        one["url"] for one in elements if one["type"] == "link"
    ]


def teams(sig: str) -> Vendor:
    """A workflow: 202 for a card that it takes, by size and form."""

    def vendor(request: Request) -> Response:
        if request.query.get("sig") != sig:
            return _json(
                401, error={"code": "DirectApiAuthorizationRequired", "message": f"no signature {request.query}"}
            )
        if len(request.body) > 28 * 1024:
            return _json(413, error={"code": "RequestEntityTooLarge", "message": "too large"})
        attachment = request.json["attachments"][0]
        if (
            attachment["contentType"] != "application/vnd.microsoft.card.adaptive"
            or attachment["content"]["type"] != "AdaptiveCard"
        ):
            return _json(400, error={"code": "TriggerInputSchemaMismatch", "message": "no adaptive card"})
        return Response(202)

    return vendor


def dingtalk(token: str, clock: Clock, secret: str = "", keyword: str = "") -> Vendor:
    """Status 200 always; 20 messages, then 130101."""
    taken = [0]

    def vendor(request: Request) -> Response:
        if request.query.get("access_token") != token:
            return _json(errcode=300001, errmsg=f"token is not exist: {request.query.get('access_token')}")
        if secret:
            stamp = request.query.get("timestamp", "0")
            right = _sha256(secret.encode(), f"{stamp}\n{secret}".encode())
            if abs(clock() * 1000 - int(stamp)) > 3_600_000:
                return _json(errcode=310000, errmsg="invalid timestamp, more: [https://ding-doc.dingtalk.com/doc]")
            if request.query.get("sign") != right:
                return _json(errcode=310000, errmsg="sign not match, more: [https://ding-doc.dingtalk.com/doc]")
        markdown = request.json["markdown"]
        if not markdown["title"] or len(request.body) > 20_000:
            return _json(errcode=40035, errmsg="缺少参数 title")
        if keyword not in markdown["text"] + markdown["title"]:
            return _json(errcode=310000, errmsg="关键词不匹配")
        taken[0] += 1
        return _json(errcode=130101, errmsg="send too fast") if taken[0] > 20 else _json(errcode=0, errmsg="ok")

    return vendor


def markdown_shows(text: str) -> tuple[list[str], list[str]]:
    """Mentions and links of Markdown as the robots of DingTalk and WeCom read it."""
    mentions = re.findall(r"@\w+|<@[^>]*>|<at[^>]*>", text)
    return mentions, re.findall(r"\]\(([^)]*)\)", text) + re.findall(r"(?<!\()\bhttps?://\S+", text)


def feishu(token: str, clock: Clock, secret: str = "", keyword: str = "") -> Vendor:
    """Status 200 with `code`, and 400 for a body that is none."""

    def vendor(request: Request) -> Response:
        if request.path != f"/open-apis/bot/v2/hook/{token}":
            return _json(
                400, code=19001, msg=f"param invalid: incoming webhook access token invalid {request.path}", data={}
            )
        payload = request.json
        if secret:
            stamp = payload.get("timestamp", "0")
            right = _sha256(f"{stamp}\n{secret}".encode(), b"")
            if abs(clock() - int(stamp)) > 3600 or payload.get("sign") != right:
                text = "sign match fail or timestamp is not within one hour from current time"
                return _json(code=19021, msg=text, data={})
        if len(request.body) > 20 * 1024 or payload.get("msg_type") != "interactive":
            return _json(400, code=9499, msg="Bad Request", data={})
        if keyword not in json.dumps(payload, ensure_ascii=False):
            return _json(code=19024, msg="Key Words Not Found", data={})
        return _json(StatusCode=0, StatusMessage="success", code=0, data={}, msg="success")

    return vendor


def feishu_shows(payload: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Mentions of texts that are Markdown there, and addresses of buttons."""
    found = list(_objects(payload))
    marked = [one["content"] for one in found if one.get("tag") in ("lark_md", "markdown")]
    mentions = [mark for text in marked for mark in re.findall(r"<at[^>]*>", text)] + [
        one for one in found if one.get("tag") == "at"
    ]
    return mentions, [one["url"] for one in found if "url" in one]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(one)


def wecom(key: str) -> Vendor:
    """Status 200 always; 4,096 bytes; 20 messages, then 45009."""
    taken = [0]

    def vendor(request: Request) -> Response:
        if request.query.get("key") != key:
            return _json(
                errcode=93000, errmsg=f"invalid webhook url, hint: [1764148287], key {request.query.get('key')}"
            )
        if len(request.json["markdown"]["content"].encode()) > 4096:
            return _json(errcode=40058, errmsg="markdown.content exceed max length 4096. invalid Request Parameter")
        taken[0] += 1
        return _json(errcode=45009, errmsg="api freq out of limit") if taken[0] > 20 else _json(errcode=0, errmsg="ok")

    return vendor


def pagerduty(key: str, incidents: dict[str, str]) -> Vendor:
    """Events v2; incidents: open ones, dedup_key → summary."""

    def vendor(request: Request) -> Response:
        event = request.json
        wrong = [f"Length of '{name}' is incorrect" for name in ("routing_key",) if len(event.get(name, "")) != 32]
        wrong += [] if 1 <= len(event.get("dedup_key", "")) <= 255 else ["dedup_key is too long"]
        if event["event_action"] == "trigger":
            payload = event["payload"]
            wrong += [
                f"'payload.{name}' is missing" for name in ("summary", "source", "severity") if not payload.get(name)
            ]
            wrong += [] if payload["severity"] in ("critical", "error", "warning", "info") else ["severity is invalid"]
        if wrong or request.path != "/v2/enqueue" or event["routing_key"] != key:
            return _json(400, status="invalid event", message="Event object is invalid", errors=wrong)
        if event["event_action"] == "trigger":
            incidents[event["dedup_key"]] = event["payload"]["summary"]
        else:
            incidents.pop(event["dedup_key"], None)
        return _json(202, status="success", message="Event processed", dedup_key=event["dedup_key"])

    return vendor


def alertmanager(alerts: dict[str, dict[str, Any]], authorization: str = "") -> Vendor:
    """API v2; alerts: by their label set, as it keeps them."""

    def vendor(request: Request) -> Response:
        if request.headers.get("authorization", "") != authorization:
            return Response(401, b"Unauthorized\n")
        for alert in request.json:
            named = all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name) for name in alert["labels"])
            if not named or "alertname" not in alert["labels"] or not all(alert["labels"].values()):
                return Response(400, json.dumps("at least one label pair is invalid").encode())
            times = [datetime.fromisoformat(alert[name]) for name in ("startsAt", "endsAt") if name in alert]
            if times != sorted(times):
                return Response(400, json.dumps("start time must be before end time").encode())
            alerts[json.dumps(alert["labels"], sort_keys=True)] = alert
        return Response(200)

    return vendor
