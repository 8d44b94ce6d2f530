"""Processes that are asked for are started for the smallest proof."""

import pytest

from likewise_check.core import leaves


@pytest.fixture(autouse=True)
def processes_at_once(monkeypatch):
    monkeypatch.setattr(leaves, "ALONE_SECONDS", 0.0)
