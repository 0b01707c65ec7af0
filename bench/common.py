"""The shared functions of the scripts in this folder: servers bound to one core, loads to another, and tables of results.

A figure is only comparable with those of the same run: machines change their speed. Scripts therefore measure rivals
in turn, round by round, and give medians. `save()` keeps the values of each round for `bench/report`.
"""

import argparse
import base64
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / ".build" / "bench"
PUSHCLI = Path(os.environ.get("PUSHCLI", ROOT / ".build" / "release" / "pushcli")).resolve()
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGESIZE")
TOPIC = "com.example.news"
# A round counts while other processes take no more of either core.
FOREIGN = 0.15

CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = (CORES[0], CORES[1]) if len(CORES) > 1 else (CORES[0], CORES[0])


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def die(words):
    sys.exit(f"{Path(sys.argv[0]).name}: {words}")


def arguments(description, **defaults):
    """Options of a script; every default is one and can be changed."""
    parser = argparse.ArgumentParser(description=description)
    for name, value in defaults.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value, help=f"({value})")
    parsed = parser.parse_args()
    if not PUSHCLI.exists():
        die(f"there is no {PUSHCLI}: `make build`, or say another with PUSHCLI=…")
    if len(CORES) < 2:
        say("only one core may be used: server and load share it, and the figures mean little")
    return parsed


def need(*tools):
    for tool in tools:
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            die(f"{tool} is missing: `make bench-packages`")


# Processes


def on(core, *command):
    return ["taskset", "--cpu-list", str(core), *map(str, command)]


def cpu(pid) -> float:
    """User and system seconds so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def threads(pid):
    """CPU seconds, voluntary and involuntary switches of each thread."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            nanoseconds = int((task / "schedstat").read_text().split()[0])
            switches = re.findall(r"ctxt_switches:\s*(\d+)", (task / "status").read_text())
        except OSError:  # It has ended.
            continue
        found[task.name] = (nanoseconds / 1e9, *map(int, switches))
    return found


def busy(core):
    """Seconds in which a core was not idle, as the kernel counts them."""
    fields = re.search(rf"^cpu{core} (.*)", Path("/proc/stat").read_text(), re.M)[1].split()
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) / TICKS


class Watch:
    """Measures a server, its core and the load while the `with` block runs."""

    def __init__(self, server):
        self.pid = server.pid

    def now(self):
        load = os.times().children_user + os.times().children_system
        return time.monotonic(), busy(SERVER_CORE), busy(LOAD_CORE), load, threads(self.pid)

    def __enter__(self):
        self.before = self.now()
        return self

    def __exit__(self, *_):
        after = self.now()
        seconds, server_core, load_core, load = (after[i] - self.before[i] for i in range(4))
        self.cpu, self.voluntary, self.involuntary = (
            sum(values[i] - self.before[4].get(task, (0, 0, 0))[i] for task, values in after[4].items()) for i in range(3))
        self.foreign = max(server_core - self.cpu, load_core - load) / seconds

    def figures(self, pushes, seconds):
        return {"voluntary switches": self.voluntary / pushes, "involuntary switches": self.involuntary / pushes,
                "idle share": 1 - self.cpu / seconds}


class Server:
    """A process on the server's core; ends with the `with` block."""

    def __init__(self, name, command, port, folder):
        self.name, self.command, self.port, self.folder = name, command, port, Path(folder)

    def __enter__(self):
        self.log = open(self.folder / f"{self.name.replace(' ', '-')}.log", "wb")
        self.process = subprocess.Popen(
            on(SERVER_CORE, *self.command), stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        self.wait()
        return self

    def wait(self, timeout=60):
        end = time.monotonic() + timeout
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    die(f"{self.name} did not start: {Path(self.log.name).read_text(errors='replace')[-500:]}")
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    @property
    def pid(self):
        return self.process.pid


class Gateway(Server):
    """`pushcli serve` with one loop on the server's core."""

    def __init__(self, folder, *options, state=None, name="pushcli serve"):
        self.state = Path(state or Path(folder) / "state")
        super().__init__(
            name,
            [PUSHCLI, "serve", "--state", self.state, "--listen", "127.0.0.1:0", "--loops", 1, "--log-level", "warning",
             *options], 0, folder)

    def wait(self, timeout=120):
        end = time.monotonic() + timeout
        while not (self.state / "listening").exists():
            if self.process.poll() is not None or time.monotonic() > end:
                die(f"the gateway did not start: {Path(self.log.name).read_text()[-500:]}")
            time.sleep(0.002)
        self.port = int((self.state / "listening").read_text().split()[0].rsplit(":", 1)[1])

    def run(self, *command):
        done = subprocess.run(
            [PUSHCLI, *map(str, command), "--state", self.state], capture_output=True, text=True, check=False)
        if done.returncode:
            die(f"{' '.join(map(str, command))}: {done.stderr}")
        return done.stdout

    def device(self, name="bench"):
        """Enrols a device that never connects; its token."""
        self.run("devices", "enroll", name, "--json")
        return json.loads(self.run("devices", "register", name, TOPIC, "--json"))["token"]

    def jwt(self):
        development = json.loads((self.state / "development.json").read_text())
        return provider_token(development["key_path"], development["key_id"], development["team_id"])


def provider_token(key, key_id, team):
    """ES256 by the openssl command, so that no package is needed."""

    def encode(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    text = encode(json.dumps({"alg": "ES256", "kid": key_id}).encode()) + "." + encode(
        json.dumps({"iss": team, "iat": int(time.time())}).encode())
    der = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=text.encode(), capture_output=True,
                         check=True).stdout
    place, numbers = 2, []
    for _ in range(2):
        size = der[place + 1]
        numbers.append(int.from_bytes(der[place + 2:place + 2 + size], "big").to_bytes(32, "big"))
        place += 2 + size
    return text + "." + encode(b"".join(numbers))


def nginx(folder, port, state, locations, options=""):
    """One process of nginx, with the certificate of a state folder."""
    folder = Path(folder)
    module = "/usr/lib/nginx/modules/ngx_nchan_module.so"
    load = f"load_module {module};" if "nchan" in locations else ""
    config = folder / f"nginx-{port}.conf"
    config.write_text(f"""
{load}
user root; daemon off; master_process off; pid {folder}/nginx-{port}.pid; error_log {folder}/nginx-{port}.err crit;
worker_rlimit_nofile 20000;
events {{ worker_connections 19900; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; tcp_nodelay on; sendfile off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi; client_body_buffer_size 16k;
  {options}
  server {{
    listen 127.0.0.1:{port} ssl {"" if "nchan" in locations else "http2"} backlog=4096;
    ssl_certificate {state}/server.pem; ssl_certificate_key {state}/server.key; ssl_protocols TLSv1.3;
    {locations}
  }}
}}
""")
    name = "nginx + nchan" if "nchan" in locations else "nginx return 200"
    return Server(name, ["/usr/sbin/nginx", "-c", config], port, folder)


NCHAN = """
location ~ ^/sub/(.+)$ { nchan_subscriber http-raw-stream; nchan_channel_id $1;
  nchan_subscriber_first_message newest; nchan_subscriber_timeout 0; }
location ~ ^/pub/(.+)$ { nchan_publisher; nchan_channel_id $1; nchan_message_buffer_length 100;
  nchan_message_timeout 60s; }
"""


def mosquitto(folder, port, state):
    config = Path(folder) / "mosquitto.conf"
    config.write_text(f"""user root
listener {port} 127.0.0.1
certfile {state}/server.pem
keyfile {state}/server.key
allow_anonymous true
persistence false
max_inflight_messages 0
max_queued_messages 0
set_tcp_nodelay true
log_dest none
""")
    return Server("mosquitto QoS 1", ["mosquitto", "-c", config], port, folder)


def nghttpd(folder, port, state, root):
    return Server(
        "nghttpd", ["nghttpd", "-n1", "-d", root, "-a", "127.0.0.1", port, state / "server.key", state / "server.pem"],
        port, folder)


def compiled(name, *sources):
    """A load client of bench/peers, built when it is needed."""
    program, folder = OUT / name, ROOT / "bench" / "peers"
    OUT.mkdir(parents=True, exist_ok=True)
    files = [folder / source for source in sources]
    headers = [file for file in folder.glob("*.h")]
    if not program.exists() or program.stat().st_mtime < max(file.stat().st_mtime for file in files + headers):
        subprocess.run(["gcc", "-O2", "-o", program, *files, "-lssl", "-lcrypto"], check=True)
    return program


def peerload():
    """The load client for servers that speak no HTTP/2."""
    return compiled("peerload", "peerload.c")


def drive(kind, server, state, devices, publishers=4, window=100, seconds=5, size=200, rate=None):
    """Runs the load client against a server, on the load's core."""
    env = os.environ | ({"RATE": str(rate)} if rate else {})
    done = subprocess.run(
        on(LOAD_CORE, peerload(), kind, "127.0.0.1", server.port, state / "ca.pem", devices, publishers, window, seconds,
           size, server.pid), capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        die(f"{server.name}: {done.stderr}")
    return json.loads(done.stdout)


def pushcli_bench(*options, check=True):
    """Runs `pushcli bench --json`; its verdict on lost, duplicated and reordered pushes must be good."""
    command = [PUSHCLI, "bench", "--json", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout or (check and done.returncode):
        die(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr}{done.stdout[:2000]}")
    return json.loads(done.stdout)


def h2load(server, count, connections, streams, path, headers, body):
    """Sends `count` POSTs; requests a second and the server's CPU seconds for each."""
    command = on(
        LOAD_CORE, "h2load", "-n", count, "-c", connections, "-m", streams, "-d", body,
        *[part for header in headers for part in ("-H", header)], f"https://127.0.0.1:{server.port}{path}")
    before = cpu(server.pid)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    used = cpu(server.pid) - before
    rate = re.search(r"finished in .*?, ([\d.]+) req/s", done.stdout)
    good = re.search(r"status codes: (\d+) 2xx", done.stdout)
    if not rate or not good or int(good[1]) != count:
        die(f"{server.name}: not all of {count} requests were answered with 200:\n{done.stdout}{done.stderr}")
    return float(rate[1]), used / count


# Output


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"), "cpu": model[1] if model else "unknown",
        "cores": os.cpu_count(), "server_core": SERVER_CORE, "load_core": LOAD_CORE, "kernel": os.uname().release,
        "load_average": os.getloadavg()[0],
    }


def table(header, rows):
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip())
    print()


def commit():
    """Returns the commit of the tree, with a plus if the sources or the package have changes."""

    def git(*command):
        return subprocess.run(["git", "-C", ROOT, *command], capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "Sources", "Package.swift")
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def save(values, **more):
    """Writes the values of each round to .build/bench/NAME.json: name of the rival or case, then of the figure, then a list.

    `bench/report --take` puts them on docs/internals/performance.md. `more` goes to NAME-whole.json, and on no page.
    """
    OUT.mkdir(parents=True, exist_ok=True)
    script = Path(sys.argv[0]).name
    rounds = max(len(one) for figures in values.values() for one in figures.values())
    result = {
        "script": script, "command": " ".join(["bench/" + script, *sys.argv[1:]]), "commit": commit(), "machine": machine(),
        "rounds": rounds, "options": more.pop("options", {}), "values": values}
    path = OUT / f"{script}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    if more:
        (OUT / f"{script}-whole.json").write_text(json.dumps(more, indent=1) + "\n")
    say(f"values of each round: {path}")


def folder():
    """A temporary folder on the disk of the build, since /tmp may be memory."""
    OUT.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=OUT, prefix="run-")


def median(values):
    return statistics.median(values)


def payload(size):
    """A JSON payload of exactly `size` bytes."""
    head, tail = '{"aps":{"alert":{"title":"Train in 5 Minutes","body":"', '"}}}'
    words = "Platform 4, coaches 21 to 28 stop in section B. "
    room = size - len(head) - len(tail)
    return head + (words * (room // len(words) + 1))[:room] + tail
