"""Settings of a form: what passes, and what is answered to the rest."""

from __future__ import annotations

import pytest

from notifications.channels import BY_NAME, KINDS

GOOD = [
    ("webhook", "url", "https://hooks.example.com/a?b=c"),
    ("webhook", "url", "http://10.0.0.7:8080/in"),
    ("webhook", "url", "https://[2001:db8::1]:8443/in"),
    ("webhook", "secrets", "whsec_" + "A" * 32),
    ("slack", "url", "https://hooks.slack-gov.com/services/T/B/x"),
    ("teams", "url", "https://default1a.02.environment.api.powerplatform.com/powerautomate/x?api-version=1&sig=ab"),
    ("feishu", "url", "https://open.larksuite.com/open-apis/bot/v2/hook/x-1"),
    ("dingtalk", "secret", "SEC0a1b2c"),
    ("dingtalk", "keyword", "监控"),
    ("alertmanager", "urls", "http://am-0:9093, https://am-1.example.com/prefix"),
    ("alertmanager", "secret", "a b\"c'd"),
    ("email", "recipients", "a@example.org, b+gpu@example.org"),
    ("email", "host", "smtp.example.org"),
    ("email", "host", "10.0.0.25"),
    ("email", "port", "65535"),
    ("pagerduty", "routing_key", "R" * 32),
]


@pytest.mark.parametrize(("kind", "name", "value"), GOOD)
def test_good_settings_pass(kind: str, name: str, value: str) -> None:
    check(kind, name, value)


BAD = [
    ("webhook", "url", "ftp://example.com/", "starts with https:// or http://"),
    ("webhook", "url", "hooks.example.com/a", "starts with https://"),
    ("webhook", "url", "https:///a", "starts with"),
    ("webhook", "url", "https://ana:pw@example.com/", "without user and password"),
    ("webhook", "url", "https://example.com@evil.example/", "without user and password"),
    ("webhook", "url", "https://example.com/#a", "special characters"),
    ("webhook", "url", "https://example.com/a b", "special characters"),
    ("webhook", "url", "https://example.com\\@evil.example/", "special characters"),
    ("webhook", "url", "https://example.com/\r\nHost: x", "special characters"),
    ("webhook", "url", "https://exämple.com/", "special characters"),
    ("webhook", "url", "https://example.com:0/", "starts with"),
    ("webhook", "url", "https://example.com:99999/", "starts with"),
    ("webhook", "url", "https://[::1/", "starts with"),
    ("webhook", "url", "https://a..b/", "starts with"),
    ("webhook", "url", "https://example.com/" + "a" * 3000, "special characters"),
    ("webhook", "secrets", "secret", "whsec_"),
    ("webhook", "secrets", "whsec_c2hvcnQ=", "24 to 64"),
    ("webhook", "secrets", "whsec_" + "!" * 40, "whsec_"),
    ("webhook", "secrets", "whsec_" + "A" * 100, "24 to 64"),
    ("webhook", "secrets", "  ", "1 to 4"),
    ("slack", "url", "http://hooks.slack.com/services/T/B/x", "https://"),
    ("slack", "url", "https://hooks.slack.com.evil.example/services/T", "hooks.slack.com or hooks.slack-gov.com"),
    ("slack", "url", "https://evil.example/services/T", "hooks.slack.com"),
    ("slack", "url", "https://hooks.slack.com/triggers/T", "/services/"),
    ("slack", "url", "https://hooks.slack.com/services/", "Copy the whole address"),
    ("teams", "url", "https://example.webhook.office.com/webhookb2/x", "*.logic.azure.com"),
    ("teams", "url", "https://logic.azure.com/workflows/x?sig=a", "*.logic.azure.com"),
    ("teams", "url", "https://a.logic.azure.com/workflows/x", "sig="),
    ("teams", "url", "https://evillogic.azure.com/workflows/x?sig=a", "*.logic.azure.com"),
    ("dingtalk", "url", "https://oapi.dingtalk.com/robot/send", "access_token="),
    ("dingtalk", "url", "https://oapi.dingtalk.com/robot/sendx?access_token=a", "/robot/send"),
    ("dingtalk", "url", "https://api.dingtalk.com/robot/send?access_token=a", "oapi.dingtalk.com"),
    ("dingtalk", "secret", "abc", "SEC1a2b"),
    ("dingtalk", "keyword", "a\nb", "one line"),
    ("feishu", "url", "https://open.feishu.cn/open-apis/bot/hook/x", "/open-apis/bot/v2/hook/"),
    ("wecom", "url", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?kex=a", "key="),
    ("pagerduty", "routing_key", "short", "0123"),
    ("pagerduty", "routing_key", "R" * 31 + "\n", "0123"),
    ("alertmanager", "urls", "http://a http://b c", "starts with"),
    ("alertmanager", "urls", " ".join(["http://a"] * 7), "1 to 6"),
    ("alertmanager", "user", "a:b", "gpudash"),
    ("alertmanager", "secret", "a\r\nX-Evil: 1", "printable ASCII"),
    ("alertmanager", "secret", "ü", "printable ASCII"),
    ("email", "host", "smtp.example.org:25", "smtp.example.org"),
    ("email", "host", "a b", "smtp.example.org"),
    ("email", "port", "0", "1 to 65535"),
    ("email", "port", "65536", "1 to 65535"),
    ("email", "sender", "gpudash", "gpu-team@example.org"),
    ("email", "sender", "a@b\r\nBcc: c@d", "gpu-team@example.org"),
    ("email", "recipients", "Ana <ana@example.org>", "gpu-team@example.org"),
    ("email", "recipients", "", "1 to 50"),
    ("email", "password", "a\nb", "one line"),
]


@pytest.mark.parametrize(("kind", "name", "value", "text"), BAD)
def test_bad_settings_are_answered_with_what_to_enter(kind: str, name: str, value: str, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        check(kind, name, value)
    assert text in str(caught.value)


def check(kind: str, name: str, value: str) -> None:
    (setting,) = [one for one in BY_NAME[kind].settings if one.name == name]
    assert setting.check is not None
    setting.check(value)


def test_only_webhook_and_alertmanager_take_http() -> None:
    taken = set()
    for kind in KINDS:
        for setting in kind.settings:
            if setting.name in ("url", "urls") and setting.check is not None:
                try:
                    setting.check("http://example.com/a")
                    taken.add(kind.name)
                except ValueError:
                    pass
    assert taken == {"webhook", "alertmanager"}


def test_addresses_with_a_token_and_passwords_are_secret() -> None:
    secret = {(kind.name, one.name) for kind in KINDS for one in kind.settings if one.secret}
    assert secret == {
        ("webhook", "secrets"),
        ("email", "password"),
        ("slack", "url"),
        ("teams", "url"),
        ("pagerduty", "routing_key"),
        ("alertmanager", "secret"),
        ("dingtalk", "url"),
        ("dingtalk", "secret"),
        ("feishu", "url"),
        ("feishu", "secret"),
        ("wecom", "url"),
    }
