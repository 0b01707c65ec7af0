"""The recipes of deploy/ci: each is parsed, its shell parts run with the program under test, and its options are documented ones."""

import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from gateway import PUSHCLI
from waiting import HANG

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "deploy" / "ci"
INSTALL = RECIPES / "pushgateway" / "install.sh"
NAME = "pushgateway-0.2.0-linux-x86_64"


def parsed(name):
    return yaml.safe_load((RECIPES / name).read_text())


def containerfile():
    """The instructions of the Containerfile: pairs of a name and its text."""
    text = re.sub(r"(?m)^#.*\n", "", (RECIPES / "Containerfile").read_text()).replace("\\\n", "")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line]


def entry():
    [line] = [text for name, text in containerfile() if name == "ENTRYPOINT"]
    return json.loads(line)


def stand_in(folder, name, line):
    """A program on the PATH in place of another; what it was called with is in the file NAME.calls."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$*" >>"{folder}/{name}.calls"\n{line}\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def bin(tmp_path):
    """A folder for stand-ins: a pushcli that is the program under test, and an apt-get that installs nothing."""
    folder = tmp_path / "bin"
    stand_in(folder, "pushcli", f'exec {shlex.quote(PUSHCLI)} "$@"')
    stand_in(folder, "apt-get", "")
    return folder


@pytest.fixture
def tarball(tmp_path):
    """A tarball as `make tarball` makes it, with a program that calls the one under test."""
    stand_in(tmp_path / "content", "pushcli", f'exec {shlex.quote(PUSHCLI)} "$@"')
    path = tmp_path / f"{NAME}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(tmp_path / "content" / "pushcli", f"{NAME}/bin/pushcli")
    return path


def sh(line, cwd, path=None, **environment):
    variables = os.environ | environment
    if path:
        variables["PATH"] = f"{path}:{variables['PATH']}"
    return subprocess.run(
        ["sh", "-e", "-c", line], cwd=cwd, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG)


def install(cwd, path=None, **environment):
    return sh(str(INSTALL), cwd, path, PREFIX=str(cwd / "prefix"), **environment)


def test_a_tarball_is_installed_into_a_prefix(tmp_path, tarball):
    checksum = hashlib.sha256(tarball.read_bytes()).hexdigest()
    for package in (str(tarball), tarball.name, f"file://{tarball}"):
        done = install(tmp_path, PACKAGE=package, SHA256=checksum)
        assert done.returncode == 0, done.stderr
        assert done.stdout == subprocess.run([PUSHCLI, "--version"], capture_output=True, text=True, timeout=HANG).stdout
        shutil.rmtree(tmp_path / "prefix")
    done = install(tmp_path, PACKAGE=str(tarball), SHA256="0" * 64)
    assert (done.returncode, checksum in done.stderr) == (1, True)
    assert not (tmp_path / "prefix").exists()


def test_curl_is_installed_where_it_is_missing(tmp_path, tarball):
    tools = tmp_path / "tools"
    curl = shutil.which("curl")
    stand_in(tools, "apt-get", f'[ "$1" = update ] || ln -s "{curl}" "{tools}/curl"')
    for name in ["sh", "mktemp", "rm", "mkdir", "tar", "gzip", "ln"]:
        (tools / name).symlink_to(shutil.which(name))
    done = subprocess.run(
        [shutil.which("sh"), str(INSTALL)], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG,
        env=os.environ | {"PATH": str(tools), "PACKAGE": f"file://{tarball}", "PREFIX": str(tmp_path / "prefix")})
    assert done.returncode == 0, done.stderr
    assert (tools / "apt-get.calls").read_text().splitlines() == [
        "update -qq", "install -qq --no-install-recommends ca-certificates curl"]


def test_a_debian_package_is_installed_by_apt(tmp_path, bin):
    package = tmp_path / "pushgateway_0.2.0_amd64.deb"
    package.touch()
    assert install(tmp_path, bin, PACKAGE=package.name).returncode == 0
    assert (bin / "apt-get.calls").read_text().splitlines() == ["update -qq", f"install -qq --no-install-recommends {package}"]


def test_a_wrong_package_is_refused_with_the_reason(tmp_path, bin):
    assert "set PACKAGE" in install(tmp_path, PACKAGE="").stderr
    assert "expected a name that ends with .deb or .tar.gz" in install(tmp_path, PACKAGE="pushgateway.rpm").stderr
    assert install(tmp_path, PACKAGE=f"file://{tmp_path}/missing.deb").returncode != 0
    package = tmp_path / "pushgateway.deb"
    package.touch()
    stand_in(bin, "pushcli", "exit 127")
    done = install(tmp_path, bin, PACKAGE=package.name)
    assert (done.returncode, "libnghttp2-14" in done.stderr) == (1, True)


def test_the_composite_action_puts_pushcli_on_the_path(tmp_path, tarball):
    action = parsed("action.yml")
    assert action["runs"]["using"] == "composite"
    values = {"inputs.package": str(tarball), "inputs.sha256": action["inputs"]["sha256"]["default"], "runner.temp": str(tmp_path)}
    paths = tmp_path / "paths"
    for step in action["runs"]["steps"]:
        environment = {
            name: re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda found: values[found[1]], text) for name, text in step["env"].items()}
        done = sh(step["run"], tmp_path, GITHUB_ACTION_PATH=str(RECIPES), GITHUB_PATH=str(paths), **environment)
        assert done.returncode == 0, done.stderr
    [path] = paths.read_text().splitlines()
    done = sh('pushcli test-run -- sh -c \'test -f "$APNS_CA"; exit 7\'', tmp_path, path)
    assert (done.returncode, "0 pushes" in done.stderr) == (7, True)


def test_the_devcontainer_feature_has_the_options_of_its_script():
    feature = json.loads((INSTALL.parent / "devcontainer-feature.json").read_text())
    assert feature["id"] == INSTALL.parent.name
    assert {"id", "version", "name"} <= set(feature)
    # The options are the variables of the script, in capitals.
    assert all("${%s:-}" % name.upper() in INSTALL.read_text() for name in feature["options"])
    assert all(option["type"] == "string" and option["default"] == "" for option in feature["options"].values())


def test_the_job_of_gitlab_records_its_pushes(tmp_path, bin):
    job = parsed("gitlab.yml")["test"]
    package = tmp_path / "package.deb"
    package.touch()
    stand_in(bin, "make", 'test -f "$APNS_CA" && test "$1" = test')
    for line in job["before_script"] + job["script"]:
        done = sh(line, tmp_path, bin, PUSHGATEWAY_PACKAGE=f"file://{package}")
        assert done.returncode == 0, f"{line}: {done.stderr}"
    assert [name for name in job["artifacts"]["paths"] if not (tmp_path / name).exists()] == []
    assert (tmp_path / "pushgateway.deb").exists()


@pytest.fixture
def service(tmp_path, bin):
    """The program of the Containerfile on free ports, which a stand-in of curl connects to under the name of the service."""
    words = entry()
    assert words[0] == "/usr/bin/pushcli"
    line = [PUSHCLI] + [re.sub(r"^0\.0\.0\.0:\d+$", "0.0.0.0:0", word) for word in words[1:]]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    ready = json.loads(process.stdout.readline())
    places = [
        f"pushgateway:{port}:{ready[name].split('//')[1]}" for name, port in (("apns", 2197), ("http", 2198))]
    options = " ".join(f"--connect-to {place}" for place in places)
    stand_in(bin, "curl", f'exec {shutil.which("curl")} --noproxy "*" {options} "$@"')
    yield ready
    process.stdin.close()
    assert process.wait(HANG) == 0


def check_service(line, environment, tmp_path, bin):
    """Runs a line that fetches the CA, and makes a request with it to each listener, by the name of the service."""
    done = sh(line, tmp_path, bin, **environment)
    assert done.returncode == 0, done.stderr
    done = sh('curl -sS --fail --http2 --cacert "$APNS_CA" "$APNS_URL/v1/health"', tmp_path, bin, **environment)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "ready")
    done = sh('curl -sS --fail "$PUSHGATEWAY_TEST_URL/test/v1/report"', tmp_path, bin, **environment)
    assert (done.returncode, json.loads(done.stdout)["lines"]) == (0, [])


def test_the_service_of_gitlab_is_reached_by_its_name(tmp_path, bin, service):
    job = parsed("gitlab.yml")["test-with-service"]
    assert [one["alias"] for one in job["services"]] == ["pushgateway"]
    [line] = job["before_script"]
    check_service(line, job["variables"], tmp_path, bin)
    [line] = job["after_script"]
    assert sh(line, tmp_path, bin, **job["variables"]).returncode == 0


def test_the_service_of_compose_is_reached_by_its_name(tmp_path, bin, service):
    services = parsed("compose.yaml")["services"]
    assert services["tests"]["depends_on"] == ["pushgateway"]
    environment = services["tests"]["environment"] | {"APNS_CA": str(tmp_path / "ca.pem")}
    shell, option, line = services["tests"]["command"]
    assert (shell, option) == ("sh", "-c")
    stand_in(bin, "make", 'test -s "$APNS_CA"')
    line = re.sub(r"(?<!\$)\$\{\w+:-(.*?)\}", r"\1", line).replace("$$", "$")
    check_service(line, environment, tmp_path, bin)
    assert (bin / "make.calls").read_text() == "test\n"


def test_other_machines_reach_the_test_api(service):
    """The address of this machine in its network is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: the system only chooses an address.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no network")
        address = probe.getsockname()[0]
    port = service["http"].rsplit(":", 1)[1]
    done = subprocess.run(
        ["curl", "-sS", "--fail", "--noproxy", "*", f"http://{address}:{port}/test/v1"], capture_output=True, text=True, timeout=HANG)
    assert (done.returncode, json.loads(done.stdout)["mode"]) == (0, "test")


def test_the_containerfile_is_made_of_the_image_of_a_gateway():
    names = [name for name, _ in containerfile()]
    assert names == ["ARG", "FROM", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"]
    ports = dict(containerfile())["EXPOSE"].split()
    assert [word.rsplit(":", 1)[1] for word in entry() if word.startswith("0.0.0.0:")] == ports
    build = parsed("compose.yaml")["services"]["pushgateway"]["build"]
    assert dict(containerfile())["ARG"] == "IMAGE=pushgateway:latest"
    assert (RECIPES / build["context"] / build["dockerfile"]).exists() and list(build["args"]) == ["IMAGE"]


def test_the_variables_of_the_recipes_are_those_of_test_run():
    done = subprocess.run([PUSHCLI, "test-run", "--", "env"], capture_output=True, text=True, timeout=HANG)
    known = {name for name in re.findall(r"^(\w+)=", done.stdout, re.M) if name.startswith(("APNS_", "PUSHGATEWAY_TEST"))}
    assert len(known) == 3
    for file in sorted(path for path in RECIPES.rglob("*") if path.is_file()):
        assert set(re.findall(r"\b(?:APNS_\w+|PUSHGATEWAY_TEST\w*)\b", file.read_text())) <= known, file.name
    for environment in [parsed("gitlab.yml")["test-with-service"]["variables"], parsed("compose.yaml")["services"]["tests"]["environment"]]:
        assert set(environment) == known


def test_the_program_of_the_containerfile_is_that_of_the_image():
    base = (ROOT / "deploy/Containerfile").read_text()
    assert f'ENTRYPOINT ["{entry()[0]}"]' in base
    # The data of the gateway is below /tmp, which the Compose file mounts.
    assert parsed("compose.yaml")["services"]["pushgateway"]["tmpfs"] == ["/tmp"]


def test_each_option_of_pushcli_in_a_recipe_is_documented():
    page = (ROOT / "docs" / "reference" / "commands.md").read_text()
    common = set(re.findall(r"`(?:-\w, )?(--[\w-]+)", page.split("## Common options")[1].split("\n## ")[0]))
    found = 0
    for file in sorted(path for path in RECIPES.rglob("*") if path.is_file()):
        for line in file.read_text().replace("\\\n", " ").splitlines():
            words = re.findall(r"[^\s\"'`,;\[\]]+", line)
            for place, word in enumerate(words[:-1]):
                command = words[place + 1]
                if word.split("/")[-1] != "pushcli" or f"\n### pushcli {command}\n" not in page:
                    continue
                options = words[place + 2:]
                options = options[:options.index("--")] if "--" in options else options
                section = page.split(f"\n### pushcli {command}\n")[1].split("\n### ")[0]
                known = set(re.findall(r"`(?:-\w, )?(--[\w-]+)", section)) | common
                assert {option for option in options if option.startswith("--")} <= known, f"{file.name}: {line}"
                found += 1
    assert found >= 4
