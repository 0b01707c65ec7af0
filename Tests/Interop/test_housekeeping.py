"""What a gateway does for its disk: backups on a schedule, the size of the delivery log, a warning before there is no room."""

import json
import re
import stat

from gateway import Gateway, run

NAME = re.compile(r"pushgateway-\d{8}T\d{6}Z\.backup")


def test_a_backup_of_the_schedule_is_made_and_can_be_restored(start, tmp_path):
    folder = tmp_path / "backups"
    gateway = start("--backup", f"daily, keep 2, to {folder}", "--log-format", "json")
    gateway.wait_for_log("backup-made")
    files = list(folder.iterdir())
    assert len(files) == 1 and NAME.fullmatch(files[0].name)
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    # One a day, also after a restart.
    gateway.stop()
    gateway.restart()
    gateway.stop()
    # A day ends at midnight, UTC, perhaps between the two starts: the names begin with it.
    made = list(folder.iterdir())
    assert files[0] in made and len({file.name.partition("T")[0] for file in made}) == len(made)
    done = run("admin", "restore", files[0], state=tmp_path / "restored")
    assert done.code == 0, done.err
    restored = Gateway(tmp_path / "restored").start()
    assert restored.run("apps").out.count("com.example.news") == 1
    restored.stop()


def test_a_backup_that_cannot_be_made_is_a_warning_and_no_outage(start, tmp_path):
    (tmp_path / "file").write_text("")
    gateway = start("--backup", f"hourly, keep 2, to {tmp_path}/file/backups")
    gateway.wait_for_log("event=backup-failed")
    with gateway.connect() as connection:
        answer = connection.request("GET", "/v1/health")
    health = json.loads(answer.body)
    assert answer.status == 200 and health["status"] == "ready" and health["problems"] == []
    assert [warning["part"] for warning in health["warnings"]] == ["backup"]
    assert "backup" in gateway.run("doctor", code=0).out


def test_little_room_is_a_warning(start):
    gateway = start("--disk-warning", "64TiB", "--log-format", "json")
    gateway.wait_for_log("disk-low")
    with gateway.connect() as connection:
        health = json.loads(connection.request("GET", "/v1/health").body)
    assert health["status"] == "ready" and [warning["part"] for warning in health["warnings"]] == ["disk"]


def test_backups_in_the_state_folder_are_refused(tmp_path):
    state = tmp_path / "state"
    done = run("serve", "--backup", f"daily, keep 7, to {state}/backups", state=state)
    assert done.code == 2 and "is inside the state folder" in done.err and not state.exists()
