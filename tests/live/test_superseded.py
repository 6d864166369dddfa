"""A report on unsaved text is superseded by the next one of its client, or cancelled by it."""

import io

import pytest

from analyzer.live.live_repository import Superseded
from analyzer.live.server import Connection, Job


@pytest.mark.parametrize(
    "method, params, last, is_superseded",
    [
        ("report", {"unsaved": True}, 2, True),
        ("report", {"unsaved": True}, None, True),
        ("report", {"unsaved": True}, 1, False),
        ("report", {}, 2, False),
        ("callers", {"unsaved": True}, 2, False),
    ],
)
def test_newer_requests_supersede(method, params, last, is_superseded):
    job = Job(Connection(io.BytesIO(), last=last), 1, method, params)
    if is_superseded:
        with pytest.raises(Superseded):
            job.check()
    else:
        job.check()
