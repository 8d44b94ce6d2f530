"""What holds for all tests: the tier and its seed, one thread a process, no failure because the machine is busy or because Ctrl-C was ignored."""

import os
import platform
import signal
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests import tiers

# Before NumPy is imported: small models gain nothing from threads, and threads that wait for each other take the other workers' time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Models that stop before they have converged differ between the kernels that OpenBLAS chooses for each processor.
if platform.machine() in ("x86_64", "AMD64"):
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")

# Processes that tests start need not compile all sources each time, also on machines that keep no bytecode.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / ".pytest_cache/bytecode"))

settings.register_profile(
    "unhurried",
    settings(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=100 if tiers.ALL else 15,
)
settings.load_profile("unhurried")


def pytest_sessionstart(session):
    """Workers share out the compilation of loops, so that no test waits for it. What is compiled is kept on disk."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        from likewise.analysis.warming import FAMILIES, warm_up_family

        first, step = int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for family in FAMILIES[first::step]:
            warm_up_family(family)


def pytest_report_header():
    tier = "all tests" if tiers.ALL else "the fast tier"
    return f"likewise: {tier}, seed {tiers.SEED} (make test SEED={tiers.SEED} draws the same cases)"


def pytest_collection_modifyitems(config, items):
    """Leaves slow tests and undrawn cases to `make test-all`. A test named on the command line runs whatever its tier."""
    if tiers.ALL or any("::" in argument for argument in config.args):
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    kept = set()
    for test, of_test in cases.items():
        fast = [item for item in of_test if item.get_closest_marker("slow") is None]
        if fast and fast[0].get_closest_marker("some_days") and not tiers.is_due(test):
            continue
        draw = fast[0].get_closest_marker("draw") if fast else None
        kept.update(tiers.some(fast, draw.args[0], test) if draw else fast)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    """How many tests took over a second, and whether these are more than stored if the whole fast tier was run."""
    seconds = Counter()
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid] += report.duration
    slow = sum(each > 1 for each in seconds.values())
    title = f"{slow} tests over a second"
    options = ("keyword", "markexpr", "lf", "ignore", "ignore_glob", "deselect")
    part = tiers.ALL or exitstatus or any(config.getoption(name, None) for name in options)
    if config.args_source is config.ArgsSource.TESTPATHS and not part:
        ratchets = tomllib.loads(Path(__file__).with_name("ratchets.toml").read_text("utf-8"))
        stored = ratchets["fast_tier"]["tests_over_a_second"]
        change = "ROSE" if slow > stored else "fell" if slow < stored else "no change"
        title += f": {change} from {stored} in tests/ratchets.toml"
    elif not slow:
        return
    terminalreporter.section(title, bold=True, red="ROSE" in title)
    for test, each in seconds.most_common(10):
        terminalreporter.line(f"{each:6.1f} s  {test}")


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Ctrl-C is Python's own while a test runs, and no test leaves it otherwise."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
    assert left is signal.default_int_handler
