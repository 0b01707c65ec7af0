"""Client libraries and tools as people use them. The programs are those of docs/send/client-libraries.md; only the port is changed."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import aioapns
import pytest

from gateway import TOPIC
from waiting import HANG
from wire import tls_context

PAGE = (Path(__file__).parents[2] / "docs/send/client-libraries.md").read_text()
PROGRAMS = dict(re.findall(r"^```python (\S+)\n(.*?)^```$", PAGE, re.M | re.S))
needs_python_of_hyper = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="hyper, on which PyAPNs2 stands, needs Python 3.11 or older")


def program(name, gateway):
    """A program of the page, for the port of a gateway."""
    text = PROGRAMS[name]
    assert text.count("2197") == 1
    return text.replace("2197", str(gateway.port))


def variables(gateway):
    """The variables that the programs read."""
    key = gateway.key
    return {"CA": gateway.trust, "KEY_FILE": key.path, "KEY_ID": key.key_id, "TEAM_ID": key.team_id, "TOPIC": TOPIC}


@pytest.fixture
def page(gateway, monkeypatch):
    """Returns the definitions of a program of the page, which is not run."""
    for name, value in variables(gateway).items():
        monkeypatch.setenv(name, value)

    def page(name):
        definitions = {"__name__": "page"}
        exec(compile(program(name, gateway), name, "exec"), definitions)
        return definitions

    return page


@pytest.mark.parametrize("name", [
    "send_aioapns.py", "send_kalyke.py", pytest.param("send_pyapns2.py", marks=needs_python_of_hyper)])
def test_a_program_of_the_page_sends(gateway, device, tmp_path, name):
    (tmp_path / name).write_text(program(name, gateway))
    packages = {"PYTHONPATH": os.environ["PYAPNS2_PACKAGES"]} if name == "send_pyapns2.py" else {}
    done = subprocess.run(
        [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=HANG,
        env=os.environ | variables(gateway) | {"DEVICE_TOKEN": device.token} | packages)
    assert done.returncode == 0, done.stderr
    stream = gateway.stream(device)
    [push] = stream.caught_up()
    stream.connection.close()
    assert "Platform 4" in json.dumps(push["payload"]["aps"]["alert"])
    assert name == "send_pyapns2.py" or push["id"] in done.stdout


def test_each_program_of_the_page_is_run():
    assert PROGRAMS.keys() == {"send_aioapns.py", "send_kalyke.py", "send_pyapns2.py"}


def with_aioapns(connect, *requests, **options):
    async def send():
        client = connect(**options)
        try:
            return await asyncio.wait_for(asyncio.gather(*map(client.send_notification, requests)), HANG)
        finally:
            client.pool.close()

    return asyncio.run(send())


@pytest.fixture
def connect(page):
    return page("send_aioapns.py")["connect"]


def test_aioapns_sends(gateway, device, connect):
    ids = [str(uuid.uuid4()), str(uuid.uuid4()).upper(), None]
    requests = [
        aioapns.NotificationRequest(
            device.token, {"aps": {"alert": f"Nr {number}"}}, notification_id=offered, time_to_live=600, priority=10,
            collapse_key=f"c{number}", push_type=aioapns.PushType.ALERT)
        for number, offered in enumerate(ids)
    ]
    results = with_aioapns(connect, *requests)
    assert [(result.status, result.description) for result in results] == [("200", None)] * 3
    assert [result.notification_id for result in results] == [request.notification_id for request in requests]
    stream = gateway.stream(device)
    assert {push["id"] for push in stream.caught_up()} == {request.notification_id for request in requests}
    stream.connection.close()


def test_aioapns_sends_2000_at_once(device, connect):
    requests = [aioapns.NotificationRequest(device.token, {"aps": {"badge": number}}) for number in range(2000)]
    results = with_aioapns(connect, *requests, max_connections=2)
    assert {result.status for result in results} == {"200"}


def test_aioapns_sees_errors_with_their_reason(gateway, device, connect):
    gone = gateway.device()
    gateway.unregister(gone.name, TOPIC)
    [unknown, unregistered, refused, fine] = with_aioapns(
        connect,
        aioapns.NotificationRequest("0" * 64, {"aps": {"alert": "x"}}),
        aioapns.NotificationRequest(gone.token, {"aps": {"alert": "x"}}),
        aioapns.NotificationRequest(device.token, {"aps": {"badge": "1"}}),
        aioapns.NotificationRequest(device.token, {"aps": {"alert": "x"}}))
    assert (unknown.status, unknown.description) == ("400", "BadDeviceToken")
    assert (unregistered.status, unregistered.description) == ("410", "Unregistered")
    assert isinstance(unregistered.timestamp, int)
    assert (refused.status, refused.description) == ("403", "Forbidden")
    assert fine.is_successful


def test_aioapns_sends_with_a_certificate(gateway, device, page, tmp_path):
    """It reads the topic from the certificate's UID."""
    certificate, key = gateway.certificate()
    both = tmp_path / "both.pem"
    both.write_text(Path(certificate).read_text() + Path(key).read_text())

    async def send():
        context = tls_context(gateway.trust, alpn=None)
        context.load_cert_chain(both)
        client = aioapns.APNs(client_cert=str(both), ssl_context=context)
        client.pool.protocol_class = page("send_aioapns.py")["Gateway"]
        assert client.pool.apns_topic == TOPIC
        try:
            requests = [
                aioapns.NotificationRequest(token, {"aps": {"alert": "Hello"}}) for token in [device.token, "0" * 64]]
            return await asyncio.wait_for(asyncio.gather(*map(client.send_notification, requests)), HANG)
        finally:
            client.pool.close()

    [sent, refused] = asyncio.run(send())
    assert sent.is_successful
    assert (refused.status, refused.description) == ("400", "BadDeviceToken")


def test_kalyke_sends_and_raises_reasons_as_its_own_types(gateway, device, page):
    import kalyke
    from kalyke import exceptions

    client = page("send_kalyke.py")["connect"]()
    config = kalyke.ApnsConfig(topic=TOPIC)
    payload = kalyke.Payload(alert=kalyke.PayloadAlert(title="Hello"), badge=1, sound="default")

    async def send(token, payload=payload):
        return await client.send_message(device_token=token, payload=payload, apns_config=config)

    offered = asyncio.run(send(device.token))
    stream = gateway.stream(device)
    assert [push["id"] for push in stream.caught_up()] == [offered]
    stream.connection.close()
    with pytest.raises(exceptions.BadDeviceToken):
        asyncio.run(send("0" * 64))
    with pytest.raises(exceptions.PayloadTooLarge):
        asyncio.run(send(device.token, {"aps": {"alert": "x" * 5000}}))
    gateway.unregister(device.name, TOPIC)
    with pytest.raises(exceptions.Unregistered) as unregistered:
        asyncio.run(send(device.token))
    assert isinstance(unregistered.value.error["timestamp"], int)


# What the libraries of other languages stand on, where that language is there.

NODE = """
const http2 = require("node:http2"), fs = require("node:fs");
const task = JSON.parse(fs.readFileSync(0));
const session = http2.connect(task.url, { ca: fs.readFileSync(task.trust) });
const post = (token, payload) => new Promise((resolve, reject) => {
  const stream = session.request({
    ":method": "POST", ":path": "/3/device/" + token, authorization: task.bearer, "apns-topic": task.topic });
  let status, id, body = "";
  stream.setEncoding("utf8");
  stream.on("response", (fields) => { status = fields[":status"]; id = fields["apns-id"]; });
  stream.on("data", (data) => { body += data; });
  stream.on("end", () => resolve({ status, body, hasID: Boolean(id) }));
  stream.on("error", reject);
  stream.end(payload);
});
(async () => {
  const good = await Promise.all(Array.from({ length: 500 }, () => post(task.token, "{}")));
  const bad = await post("0".repeat(64), "{}");
  const large = await post(task.token, JSON.stringify({ x: "x".repeat(100000) }));
  await new Promise((resolve) => session.ping(resolve));
  const end = new Promise((resolve) => session.on("goaway", (code, last, data) => resolve([code, data.toString()])));
  console.log(JSON.stringify({ good: good.filter((each) => each.status == 200 && each.body == "").length, bad, large }));
  console.log(JSON.stringify(await end));
})();
"""


@pytest.mark.skipif(not shutil.which("node"), reason="node is not there")
def test_node_sends_500_at_once_and_reads_the_reason_in_goaway(start):
    gateway = start()
    task = dict(
        url=f"https://localhost:{gateway.port}", trust=gateway.trust, bearer=gateway.bearer(), topic=TOPIC,
        token=gateway.device().token)
    node = subprocess.Popen(["node", "-e", NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    node.stdin.write(json.dumps(task))
    node.stdin.close()
    answers = json.loads(node.stdout.readline())
    assert answers["good"] == 500
    assert answers["bad"] == {"status": 400, "body": '{"reason":"BadDeviceToken"}', "hasID": True}
    assert answers["large"] == {"status": 413, "body": '{"reason":"PayloadTooLarge"}', "hasID": True}
    gateway.terminate()
    assert json.loads(node.stdout.readline()) == [0, '{"reason":"Shutdown"}']
    assert node.wait(HANG) == 0
    node.stdout.close()


JAVA = """
import java.net.URI;
import java.net.http.*;
import java.nio.file.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;
import java.util.*;
import java.util.stream.*;

class Send {
  public static void main(String[] task) throws Exception {
    KeyStore trust = KeyStore.getInstance(KeyStore.getDefaultType());
    trust.load(null);
    trust.setCertificateEntry("ca", CertificateFactory.getInstance("X.509")
        .generateCertificate(Files.newInputStream(Path.of(task[1]))));
    TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trust);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    HttpClient client = HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_2).build();
    for (String token : List.of(task[4], "0".repeat(64))) {
      HttpRequest request = HttpRequest.newBuilder(URI.create(task[0] + "/3/device/" + token))
          .header("authorization", task[2]).header("apns-topic", task[3])
          .POST(HttpRequest.BodyPublishers.ofString("{}")).build();
      var answers = Stream.generate(() -> client.sendAsync(request, HttpResponse.BodyHandlers.ofString()))
          .limit(50).collect(Collectors.toList());
      Set<String> seen = new TreeSet<>();
      for (var answer : answers) seen.add(answer.get().version() + " " + answer.get().statusCode() + " " + answer.get().body());
      System.out.println(seen);
    }
    System.exit(0);
  }
}
"""


@pytest.mark.skipif(not shutil.which("java"), reason="java is not there")
def test_javas_http_client_sends_and_sees_the_reason(gateway, device, tmp_path):
    source = tmp_path / "Send.java"
    source.write_text(JAVA)
    done = subprocess.run(
        ["java", str(source), f"https://localhost:{gateway.port}", gateway.trust, gateway.bearer(), TOPIC, device.token],
        capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[HTTP_2 200 ]", '[HTTP_2 400 {"reason":"BadDeviceToken"}]']


PYAPNS2 = """
import json, sys
from send_pyapns2 import Payload, connect
from apns2 import errors
from apns2.client import Notification

task = json.load(sys.stdin)
client = connect()

def send(token, payload):
    try:
        client.send_notification(token, payload, task["topic"])
        return "sent"
    except errors.Unregistered as error:
        return ["Unregistered", error.timestamp]
    except errors.APNsException as error:
        return type(error).__name__

answers = {
    "good": send(task["good"], Payload(alert="Hello", badge=1, sound="default", custom={"k": "v"})),
    "unknown": send("0" * 64, Payload(alert="Hello")),
    "gone": send(task["gone"], Payload(alert="Hello")),
    "large": send(task["good"], Payload(alert="x" * 5000)),
    "vibrating": send(task["good"], Payload(alert="Hello", custom={"aps": {"vibrate": 1}})),
}
batch = [Notification(token, Payload(alert="Hello")) for token in [task["good"], "1" * 64, task["gone"]]]
answers["batch"] = client.send_notification_batch(batch, task["topic"])
print(json.dumps(answers))
"""


@needs_python_of_hyper
def test_pyapns2_sends_and_sees_errors_as_its_own_types(gateway, device, tmp_path):
    gone = gateway.device()
    gateway.unregister(gone.name, TOPIC)
    (tmp_path / "send_pyapns2.py").write_text(program("send_pyapns2.py", gateway))
    task = dict(topic=TOPIC, good=device.token, gone=gone.token)
    done = subprocess.run(
        [sys.executable, "-c", PYAPNS2], input=json.dumps(task), cwd=tmp_path, capture_output=True, text=True, timeout=HANG,
        env=os.environ | variables(gateway) | {"PYTHONPATH": os.environ["PYAPNS2_PACKAGES"]})
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers["good"] == "sent"
    assert answers["unknown"] == "BadDeviceToken"
    assert answers["gone"][0] == "Unregistered" and isinstance(answers["gone"][1], int)
    assert answers["large"] == "PayloadTooLarge"
    assert answers["vibrating"] == "Forbidden"
    assert answers["batch"][device.token] == "Success"
    assert answers["batch"]["1" * 64] == "BadDeviceToken"
    assert answers["batch"][gone.token][0] == "Unregistered"


def curl(gateway, token, payload, *options):
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--http2", "--include", "--cacert", gateway.trust, "-d", payload,
         "-H", f"authorization: {gateway.key.bearer()}", "-H", f"apns-topic: {TOPIC}", *options,
         f"https://{gateway.address}/3/device/{token}"], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    head, _, body = done.stdout.replace("\r\n", "\n").partition("\n\n")
    return head.splitlines()[0].strip(), body


@pytest.mark.parametrize("options", [[], ["--http2-prior-knowledge"], ["--tlsv1.3"], ["--tls-max", "1.2"], ["--compressed"]], ids=str)
def test_curl_sends(gateway, device, options):
    assert curl(gateway, device.token, '{"aps":{"alert":"Hello"}}', *options) == ("HTTP/2 200", "")


def test_curl_sees_the_reason(gateway, device):
    assert curl(gateway, "0" * 64, '{"aps":{}}') == ("HTTP/2 400", '{"reason":"BadDeviceToken"}')
    status, body = curl(gateway, device.token, '{"aps":{"badge":"1"}}')
    assert status == "HTTP/2 403" and json.loads(body)["policy"]["rule"] == "B1"


def test_curl_sends_with_a_certificate(gateway, device):
    certificate, key = gateway.certificate()
    options = ["--cert", certificate, "--key", key, "-H", "authorization:", "-H", "apns-topic:"]
    assert curl(gateway, device.token, '{"aps":{"alert":"Hello"}}', *options) == ("HTTP/2 200", "")


def test_h2load_is_answered_200_throughout(gateway, device, tmp_path):
    if not shutil.which("h2load"):
        pytest.skip("h2load is not there")
    payload = tmp_path / "payload.json"
    payload.write_text('{"aps":{"alert":"Hello"}}')
    done = subprocess.run(
        ["h2load", "-n", "2000", "-c", "4", "-m", "250", "-d", str(payload), "-H", f"authorization: {gateway.bearer()}",
         "-H", f"apns-topic: {TOPIC}", f"https://{gateway.address}/3/device/{device.token}"],
        capture_output=True, text=True, timeout=HANG)
    assert "2000 succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout, done.stdout
    assert "status codes: 2000 2xx, 0 3xx, 0 4xx, 0 5xx" in done.stdout, done.stdout


def test_curl_with_http_1_1_gets_no_http_status(gateway, device):
    done = subprocess.run(
        ["curl", "--silent", "--http1.1", "--include", "--cacert", gateway.trust, f"https://{gateway.address}/"],
        capture_output=True, text=True, timeout=HANG)
    assert done.returncode != 0 and not done.stdout.startswith("HTTP/1.1")


@pytest.mark.parametrize(
    ("good", "frames"), [(True, ["recv HEADERS"]), (False, ["recv HEADERS", "recv DATA"])], ids=["success", "error"])
def test_nghttp_shows_the_frames(gateway, device, tmp_path, good, frames):
    payload = tmp_path / "payload.json"
    payload.write_text('{"aps":{"alert":"Hello"}}')
    done = subprocess.run(
        ["nghttp", "-v", "-n", "-d", str(payload), "-H", ":method: POST", "-H", f"authorization: {gateway.key.bearer()}",
         "-H", f"apns-topic: {TOPIC}", f"https://{gateway.address}/3/device/{device.token if good else '0' * 64}"],
        capture_output=True, text=True, timeout=HANG)
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    seen = re.findall(r"recv (SETTINGS|HEADERS|DATA|RST_STREAM|GOAWAY) frame <length=(\d+), flags=(0x..), stream_id=(\d+)>", text)
    assert seen[0][0] == "SETTINGS"
    answer = [(f"recv {name}", int(flags, 16) & 1) for name, _, flags, stream in seen if stream != "0"]
    assert answer == [(frame, int(frame == frames[-1])) for frame in frames]
    assert ":status: 200" in text if good else ":status: 400" in text
