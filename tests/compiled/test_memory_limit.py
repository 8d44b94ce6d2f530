"""A process with too little memory says so, where LLVM would end the program ("bad_alloc")."""

import subprocess
import sys

import pytest

from likewise.compiled import beside
from likewise.errors import LikewiseError

resource = pytest.importorskip("resource", reason="this system has no limits of memory")
PROGRAM = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
import likewise as lw
rows = pd.DataFrame({"a": [0, 1, 2, 3] * 2, "s": [0] * 4 + [1] * 4})
model = RandomForestClassifier(5, random_state=0).fit(rows, [0, 0, 1, 1, 0, 1, 1, 1])
space = lw.Space({"a": lw.Integer(0, 3), "s": lw.Integer(0, 1)})
try:
    print(lw.groups(model, space, "s", over="uniform", X=rows))
except lw.LikewiseError as error:
    print(error)
"""


def test_a_limit_without_room_is_named(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (beside.ROOM, beside.ROOM))
    with pytest.raises(
        LikewiseError, match=r"memory limit of this process, 400 MiB.*\n?.*hint: raise the limit"
    ):
        beside.need_memory()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    beside.need_memory()


@pytest.mark.slow
def test_a_process_of_a_gigabyte_ends_with_an_answer():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    assert "memory limit" in run.stdout or "selected" in run.stdout
