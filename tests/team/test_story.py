"""The story of a new team, chapter by chapter: installed by the page, connected, scraped, used, hurt, restored, upgraded.

Every command is read from docs/team.md. Nothing of gpudash runs in this process; it is asked from outside, as users ask.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.cluster_runs.kubelet import Kubelet
from tests.controlplane.admin import Admin
from tests.controlplane.objects import KINDS, node, placed, pod
from tests.docs.reading import ROOT
from tests.services import wait_until
from tests.team import page
from tests.team.cast import (
    CURL,
    DATABASE_PASSWORD,
    NODES,
    PASSWORD,
    SITE,
    UNITS,
    Browser,
    active,
    agrees,
    all_in_sync,
    certificate,
    in_step,
    main_pid,
    rest,
    states,
    web_answers,
)
from tests.team.conftest import WHEELS, follow
from tests.team.host import Host
from tests.wheel import build

pytestmark = [pytest.mark.team, pytest.mark.timeout(1200)]

APP = "/opt/gpudash/app"
CARDS = 8
RULES = ROOT / "deploy" / "prometheus" / "alerts.yaml"
ANSWERS = {
    "createuser": f"{DATABASE_PASSWORD}\n{DATABASE_PASSWORD}\n",
    "user create": f"{PASSWORD}\n{PASSWORD}\n",
}


def test_a_host_is_installed_as_the_page_says(host: Host) -> None:
    steps = page.steps("On a host", the_wheel=f"{WHEELS}/{build.NAME}", your_host_name="gpudash.example.com")
    made = next(at for at, step in enumerate(steps) if "gpudash.env" in step.command) + 1
    follow(host, steps[:made], ANSWERS)
    settings = page.block(
        "On a host",
        "ini",
        **{"50_or_more_random_characters": "k" * 60, "the_password_of_step_3": DATABASE_PASSWORD},
    )
    host.write("/etc/gpudash/gpudash.env", settings)
    certificate(host)
    follow(host, steps[made:-1], ANSWERS)
    web_answers(host)
    follow(host, steps[-1:])
    assert [unit for unit in UNITS if not active(host, unit)] == []


def test_nothing_of_it_is_readable_by_others(host: Host) -> None:
    for path in ("/etc/gpudash/gpudash.env", "/var/lib/gpudash/static", "/etc/gpudash/watcher"):
        assert "Permission denied" in host.run(f"runuser -u nobody -- ls -l {path}", check=False)
    shown = host.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert DATABASE_PASSWORD not in shown


def test_it_is_ready_and_says_of_what(host: Host) -> None:
    answer = json.loads(host.run("curl --silent http://127.0.0.1:8001/readyz"))
    assert answer["ready"] is True, answer
    assert {"database", "broker", "migrations"} <= answer["parts"].keys()
    wait_until(
        lambda: all(
            part["ok"] for part in json.loads(host.run("curl --silent http://127.0.0.1:8001/readyz"))["parts"].values()
        ),
        "every part is well",
        40,
        1,
    )


def test_a_probe_by_address_is_answered(host: Host) -> None:
    for path in ("healthz", "readyz"):
        said = host.run(
            f"curl --silent --output /dev/null --write-out '%{{http_code}}' -H 'Host: 10.1.2.3:8000' http://127.0.0.1:8000/{path}"
        )
        assert said == "200"


def test_a_person_signs_in_over_the_proxy(host: Host) -> None:
    plain = host.run(
        "curl --silent --output /dev/null --write-out '%{http_code} %{redirect_url}' http://gpudash.example.com/cards"
    )
    assert plain == f"301 {SITE}/cards"
    ana = Browser(host)
    assert ana.sign_in("ana", PASSWORD) in (200, 302)
    status, overview = ana.get("/")
    assert status == 200
    assert "No cluster yet" in overview


def test_a_user_who_may_not_read_the_settings_gets_no_database_of_their_own(host: Host) -> None:
    said = host.run(f"runuser -u nobody -- /opt/gpudash/venv/bin/python {APP}/manage.py user list", check=False)
    shown = page.section("Settings of an installation")
    assert "nobody cannot read the settings of this installation" in said
    assert said.startswith("gpudash does not start: GPUDASH_ENV_FILE: ")
    assert "ana cannot read the settings of this installation in /etc/gpudash/gpudash.env" in shown
    assert "sudo gpudash" in host.run("runuser -u nobody -- gpudash user list", check=False)


def test_a_command_without_more_works_on_the_database_of_the_services(host: Host) -> None:
    said = host.run(f"/opt/gpudash/venv/bin/python {APP}/manage.py user list")
    assert "ana  admin  active" in said


def test_a_cluster_is_connected_as_the_page_says(host: Host, admin: Admin, kubelet: Kubelet) -> None:
    _nodes(admin, kubelet)
    *steps, listed = page.steps("Connect a cluster")
    follow(host, steps, folder=APP)
    all_in_sync(host)
    follow(host, [listed])


def _nodes(admin: Admin, kubelet: Kubelet) -> None:
    """Two nodes of NVIDIA's plugin whose kubelet is played, with a pod that holds a card."""
    kind = KINDS["status"]
    for name in NODES:
        thing = node(name, kind, CARDS)
        thing["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": kubelet.port}}
        admin.patch(admin.create(thing), {"spec": {"taints": None}})
        _hold(admin, f"train-{name}", name, 0)


def _hold(admin: Admin, name: str, where: str, card: int) -> None:
    kind = KINDS["status"]
    made = admin.create(pod(name, kind, 1, where))
    _, status = placed(kind, where, {card: 1})
    admin.patch(made, {"status": status}, "/status")


def test_each_process_has_the_credentials_that_it_needs_and_no_others(host: Host) -> None:
    def may(who: str, what: str) -> str:
        said = host.run(f"kubectl --kubeconfig /etc/gpudash/{who}/lab auth can-i {what}", check=False)
        return next(line for line in said.splitlines() if line in ("yes", "no"))

    jobs = "create jobs --namespace gpudash-validations"
    assert (may("watcher", jobs), may("launcher", jobs)) == ("no", "yes")
    assert (may("watcher", "watch pods"), may("launcher", "list nodes")) == ("yes", "no")
    assert (may("watcher", "list secrets"), may("launcher", "get secrets --namespace gpudash")) == ("no", "no")
    for unit, seen in (("web", ""), ("schedule", ""), ("watch", "watcher"), ("launch", "launcher"), ("tasks", "")):
        found = [name for name in ("watcher", "launcher") if _sees(host, f"gpudash-{unit}", name)]
        assert " ".join(found) == seen, unit


def _sees(host: Host, unit: str, folder: str) -> bool:
    """Whether a process, as its user and behind its systemd's walls, can read what is in a folder of credentials."""
    inside = f"nsenter --target {main_pid(host, unit)} --mount setpriv --reuid gpudash --regid gpudash --init-groups"
    return "token" in host.run(f"{inside} cat /etc/gpudash/{folder}/lab", check=False)


@pytest.fixture(scope="module")
def token(host: Host) -> str:
    return host.run("gpudash token create ana --role admin --name story 2>/dev/null").strip().splitlines()[-1]


def test_rest_tells_what_the_cluster_holds(host: Host, admin: Admin, token: str) -> None:
    agrees(host, token, admin)
    cards = rest(host, token, "cards")["results"]
    assert len(cards) == CARDS * len(NODES)


def test_prometheus_scrapes_it_over_the_proxy(host: Host) -> None:
    host.run("mkdir -p /etc/prometheus")
    follow(host, page.steps("Prometheus"), ANSWERS)
    said = host.run(f'{CURL} --header "Authorization: Bearer $(cat /etc/prometheus/gpudash.token)" {SITE}/metrics')
    assert f'gpudash_card_memory_allocated_bytes{{cluster="lab",node="{NODES[0]}"' in said
    refused = host.run(f"{CURL} --output /dev/null --write-out '%{{http_code}}' {SITE}/metrics")
    assert refused == "401"


def test_a_real_prometheus_takes_the_job_and_the_rules_of_the_docs(host: Host) -> None:
    host.write("/etc/prometheus/gpudash.yml", page.block("Prometheus", "yaml") + "rule_files: [gpudash-rules.yml]\n")
    host.write("/etc/prometheus/gpudash-rules.yml", RULES.read_text(encoding="utf-8"))
    host.run("cp /etc/gpudash/tls/gpudash.crt /usr/local/share/ca-certificates/ && update-ca-certificates")
    assert "SUCCESS" in host.run("promtool check config /etc/prometheus/gpudash.yml")
    where = (
        "--config.file=/etc/prometheus/gpudash.yml --storage.tsdb.path=/root/tsdb --web.listen-address=127.0.0.1:9191"
    )
    host.run(f"systemd-run --unit=scraper prometheus {where}")
    asked = "curl --silent --get http://127.0.0.1:9191/api/v1/query --data-urlencode"

    def value(query: str) -> str:
        said = host.run(f"{asked} 'query={query}'", check=False)
        found = json.loads(said)["data"]["result"] if said.startswith("{") else []
        return str(found[0]["value"][1]) if found else ""

    wait_until(lambda: value('up{job="gpudash"}') == "1", "Prometheus scrapes gpudash", 90, 2)
    assert value("count(gpudash_card_memory_bytes)") == str(CARDS * len(NODES))
    host.run("systemctl stop scraper")


def test_it_is_served_below_a_path(host: Host, token: str) -> None:
    """As the page says: one setting, one line of the proxy."""
    shown = page.section("TLS and the proxy")
    assert "`GPUDASH_BASE_PATH=/gpudash`" in shown
    assert "`location /gpudash/` instead of `location /`" in shown
    host.run("echo GPUDASH_BASE_PATH=/gpudash >> /etc/gpudash/gpudash.env")
    host.run("sed -i 's#location / {#location /gpudash/ {#' /etc/nginx/conf.d/gpudash.conf")
    host.run("systemctl restart gpudash-web && systemctl reload nginx")
    web_answers(host)
    ana = Browser(host, f"{SITE}/gpudash")
    assert ana.sign_in("ana", PASSWORD) in (200, 302)
    status, overview = ana.get("/")
    assert (status, 'href="/gpudash/nodes' in overview) == (200, True)
    style = re.search(r'href="(/gpudash/static/[^"]+\.css)"', overview)
    assert style
    assert Browser(host).get(style[1])[0] == 200
    assert rest(host, token, "clusters", site=f"{SITE}/gpudash")["results"]
    host.run("sed -i /BASE_PATH/d /etc/gpudash/gpudash.env")
    host.run("sed -i 's#location /gpudash/ {#location / {#' /etc/nginx/conf.d/gpudash.conf")
    host.run("systemctl restart gpudash-web && systemctl reload nginx")
    web_answers(host)


def test_a_validation_is_launched_and_passes(host: Host, token: str) -> None:
    made = rest(host, token, "runs", {"suite": "cuda-vectoradd", "cluster": "lab", "node": NODES[0]})
    assert "id" in made, made
    wait_until(lambda: rest(host, token, f"runs/{made['id']}")["state"] == "ended", "the run has ended", 60, 1)
    ended = rest(host, token, f"runs/{made['id']}")
    assert (ended["verdict"], [one["code"] for one in ended["reasons"]]) == ("passed", []), ended["reasons"]


@pytest.mark.parametrize("unit", UNITS)
def test_a_killed_process_comes_back_and_the_service_with_it(host: Host, admin: Admin, token: str, unit: str) -> None:
    before = main_pid(host, unit)
    host.run(f"systemctl kill --signal=KILL {unit}")
    wait_until(lambda: main_pid(host, unit) not in (0, before), f"{unit} runs again", 30, 0.5)
    web_answers(host)
    _hold(admin, f"after-{unit}", NODES[1], UNITS.index(unit) + 1)
    agrees(host, token, admin, 40)
    made = rest(host, token, "runs", {"suite": "cuda-vectoradd", "cluster": "lab", "node": NODES[1]})
    assert "id" in made, made
    wait_until(lambda: rest(host, token, f"runs/{made['id']}").get("verdict") == "passed", "a run passes", 60, 1)


def test_a_backup_is_restored_under_running_services(host: Host, admin: Admin, token: str) -> None:
    """What the cluster did since the backup must not be lost: the mirror of then is not the cluster of now."""
    save, *restore = page.steps("Backup")
    follow(host, [save])
    admin.delete({"kind": "Pod", "metadata": {"name": f"train-{NODES[0]}", "namespace": "default"}})
    _hold(admin, "since-the-backup", NODES[0], 1)
    agrees(host, token, admin)
    follow(host, restore)
    agrees(host, token, admin, 60)
    all_in_sync(host)
    assert rest(host, token, f"cards?node={NODES[0]}")["results"]


def test_a_cluster_that_is_stopped_is_said_to_be(host: Host) -> None:
    host.run("systemctl stop gpudash-watch")
    wait_until(lambda: not in_step(host), "the list says that nobody watches", 30, 1)
    host.run("systemctl start gpudash-watch")
    all_in_sync(host)
    assert "lab" in host.run("gpudash cluster list")
    assert set(states(host)) >= {"cards", "nodes", "pods"}
