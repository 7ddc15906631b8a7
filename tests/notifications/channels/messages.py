"""Messages and settings that tests of channels share. Secrets are of tests only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from notifications.channels.engine import Change, Line, Message, Severity

#: The attempt; the clock of receivers.
NOW = datetime(2026, 11, 26, 9, 30, tzinfo=UTC)
SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HOME = "https://gpudash.example.com"

#: What a name may be that somebody writes who means harm.
HOSTILE = (
    "<!channel> <@U1> <!here|x> @all @everyone <at id=all></at> <at id='all'>x</at> <at>Ann</at> <@all> @13800000000 "
    "[pay here](https://evil.example/a) ![x](https://evil.example/b.png) <https://evil.example/c|here> https://evil.example/d "
    "*b* _i_ ~s~ `c` ```d``` <script>alert(1)</script> <a href='https://evil.example/e'>e</a> &lt;!channel&gt; &#64;all "
    "\r\nBcc: all@example.org\r\n\r\n# head\n> quote\n\x00\x1b[2J\u202egnp.exe\u2066\u200b\ud800 {n} {name} %s \\"
)


def line(**changed: object) -> Line:
    """A finding on one card that began."""
    usual = Line(
        topic="finding:prod/xid-79/dgx-01",
        change=Change.BEGAN,
        severity=Severity.ERROR,
        code="xid-79",
        text="Card 3 of dgx-01 fell off the bus.",
        count=1,
        places=("prod/dgx-01",),
        cluster="prod",
        link=f"{HOME}/findings/17",
        since=NOW - timedelta(minutes=5),
    )
    return msgspec.structs.replace(usual, **changed)


def message(*lines: Line, **changed: object) -> Message:
    """title: of one line its text."""
    usual = Message(
        id="0199f3c27a5e7c3d",
        title=lines[0].text if len(lines) == 1 else f"{len(lines)} problems",
        lines=lines,
        link=f"{HOME}/findings",
        source=f"{HOME}/",
        at=NOW - timedelta(seconds=20),
    )
    return msgspec.structs.replace(usual, **changed)


_DRIVER = line(
    topic="finding:prod/driver-old",
    change=Change.MORE,
    severity=Severity.WARNING,
    code="driver-old",
    text="The driver 535.54 has a known fault.",
    count=1_500,
    new=500,
    places=tuple(f"prod/dgx-{number:02}" for number in range(1, 6)),
)
_ENDED = line(
    topic="cluster:lab",
    change=Change.ENDED,
    code="not-reporting",
    text="lab does not report.",
    places=(),
    cluster="lab",
    until=NOW,
)
MESSAGES = {
    "one": message(line()),
    "several": message(line(), _DRIVER, _ENDED, hidden=12),
    "ended": message(_ENDED),
    "chinese": message(
        line(text="dgx-01 的卡 3 已从总线脱落。"),
        words={"Error": "错误", "since {since} UTC": "自 {since} UTC 起", "Open": "打开"},
    ),
    "without links": message(line(link=""), link="", source="gpudash"),
    "hostile": message(
        line(topic=HOSTILE[:200], code=HOSTILE, text=HOSTILE, places=(HOSTILE, HOSTILE), cluster=HOSTILE), title=HOSTILE
    ),
    "test": message(
        line(topic="test:0199", severity=Severity.INFO, code="test", text="This is a test.", places=(), cluster=""),
        title="Test message from gpudash",
        test=True,
    ),
}

SETTINGS: dict[str, dict[str, str]] = {
    "webhook": {"url": "https://hooks.example.com/gpudash", "secrets": SECRET},
    "email": {
        "host": "smtp.example.org",
        "port": "587",
        "security": "starttls",
        "user": "gpudash",
        "password": "mail-password-7",
        "sender": "gpudash@example.org",
        "recipients": "ana@example.org, team@example.org",
    },
    "slack": {"url": "https://hooks.slack.com/services/T00000000/B00000000/XXXXtokenXXXX1234"},
    "teams": {
        "url": "https://prod-07.westeurope.logic.azure.com:443/workflows/a1b2/triggers/manual/paths/invoke?sv=1.0&sig=s1g-teams"
    },
    "pagerduty": {"routing_key": "0123456789abcdef0123456789abcdef", "region": "eu"},
    "alertmanager": {
        "urls": "http://am-0.monitoring:9093 https://am-1.example.com/am/",
        "user": "gpudash",
        "secret": "am-secret-9",
    },
    "dingtalk": {
        "url": "https://oapi.dingtalk.com/robot/send?access_token=d1ngt0ken",
        "secret": "SECabc",
        "keyword": "GPU",
    },
    "feishu": {"url": "https://open.feishu.cn/open-apis/bot/v2/hook/f31shu-t0ken", "secret": "SECabc", "keyword": ""},
    "wecom": {"url": "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=w3c0m-key"},
}
