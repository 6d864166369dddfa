"""A live repository's reports are those of scans from scratch."""

from pathlib import Path

import pytest

from analyzer.live.live_repository import LiveRepository, Refused, Superseded
from analyzer.scan import ScanRequest, scan, scan_tree
from analyzer.sources.trees import MemoryTree
from tests.live.edits import Edits


def opened(path, **flags):
    return LiveRepository(path, flags, max_state_bytes=1 << 30)


@pytest.fixture
def live(tmp_path, state_directory):
    Edits(tmp_path, 0).begin()
    repository = opened(tmp_path)
    yield repository
    repository.close()


@pytest.mark.parametrize("seed", range(3))
def test_after_random_edits_a_report_is_that_of_a_scan(live, tmp_path, seed):
    edits = Edits(tmp_path, seed)
    for _ in range(12):
        edits.step()
        got = live.report(live.frozen()).report
        assert got == scan(ScanRequest(tmp_path)).report
    assert any(file.language for file in got.files)


def test_reports_that_are_superseded_leave_the_relations_as_they_were(live, tmp_path):
    edits = Edits(tmp_path, 7)
    live.report(live.frozen())
    stopped = 0
    for n_pieces in (0, 1, 5, 40, 200, 1000):
        edits.step()
        pieces = iter(range(n_pieces))

        def check(pieces=pieces):
            if next(pieces, None) is None:
                raise Superseded

        try:
            live.report(live.frozen({"app/tools.py": b"import os\nos.system(input())\n"}), watch=check)
        except Superseded:
            stopped += 1
            assert live.view.relations, "they are still there"
        assert live.report(live.frozen()).report == scan(ScanRequest(tmp_path)).report
    assert stopped >= 3


def test_unsaved_text_stands_for_the_file(live, tmp_path):
    before = live.report(live.frozen()).report
    text = b"import os\nos.system(input())\n"
    unsaved = live.report(live.frozen({"app/tools.py": text})).report
    assert unsaved != before
    files = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    expected = scan_tree(MemoryTree(files | {"app/tools.py": text}, str(tmp_path)), ScanRequest(tmp_path)).report
    assert unsaved == expected
    assert live.report(live.frozen()).report == before


def test_facts_of_unsaved_text_are_kept_in_memory_only(live, state_directory):
    live.report(live.frozen())
    stored = set(state_directory.rglob("*"))
    live.report(live.frozen({"app/tools.py": b"import os\nos.system(input())\n"}))
    assert set(state_directory.rglob("*")) == stored


def test_other_settings_are_refused(live, tmp_path):
    live.report(live.frozen())
    with pytest.raises(Refused, match="other settings"):
        live.report(live.frozen(), ScanRequest.from_flags(tmp_path, None, {"tier": ("audit",)}))
    same = ScanRequest.from_flags(tmp_path, None, {"format": "sarif", "fail_on": "never", "jobs": 1})
    assert live.report(live.frozen(), same).config.format == "sarif"


def test_where_an_evaluation_fails_the_next_report_is_right(live, tmp_path, monkeypatch):
    live.report(live.frozen())
    Path(tmp_path / "app/tools.py").write_text("def first(values):\n    return values\n")
    with monkeypatch.context() as broken:
        broken.setattr("analyzer.history.commit_update.enter", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            live.report(live.frozen())
    assert live.report(live.frozen()).report == scan(ScanRequest(tmp_path)).report
