"""Reports for a person's screen and for programs."""

import json
from pathlib import Path

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import tables


def test_a_reports_file_is_its_owners_alone_whoever_made_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("older", encoding="utf-8")
    file.chmod(0o644)
    assert tables.write_report(str(file), {"name": "é"}) == ""
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text(encoding="utf-8")) == {"name": "é"}
    assert [found.name for found in tmp_path.iterdir()] == ["report.json"]


def test_a_relative_path_begins_where_the_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    assert (tables.write_report("one.json", 1), tables.write_report("~/two.json", 2)) == ("", "")
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.json")) == ["home/two.json", "one.json"]


def test_a_report_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "no-such-folder" / "report.json"
    assert tables.write_report(str(file), {}) == f"The report {file} can't be written: No such file or directory."
    (tmp_path / "folder").mkdir()
    assert "can't be written" in tables.write_report(str(tmp_path / "folder"), {})
    assert [found.name for found in tmp_path.iterdir()] == ["folder"], "a part of it was left behind"


def test_a_report_that_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    missing = tmp_path / "no-such-folder" / "report.json"
    assert tables.unwritable(str(missing)) == tables.write_report(str(missing), {})
    (tmp_path / "folder").mkdir()
    assert tables.unwritable(str(tmp_path / "folder")) == tables.write_report(str(tmp_path / "folder"), {})
    file = tmp_path / "report.json"
    file.write_text("older", encoding="utf-8")
    assert tables.unwritable(str(file)) == ""
    assert file.read_text(encoding="utf-8") == "older"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["folder", "report.json"]
