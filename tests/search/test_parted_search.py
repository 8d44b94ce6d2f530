"""One search in many processes: the same verdicts as in one, one certificate, and nothing believed or lost that a worker says or does."""

import os
import signal
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace

import pytest
from sklearn.neural_network import MLPRegressor
from tests.posing import posed
from tests.search.test_branch_and_bound import parity
from tests.search.test_parts import MODELS, SIMILAR, SPACE, rows

import likewise as lw
from likewise.errors import InternalError
from likewise.search import parted_search, workers
from likewise.search.budget import Budget
from likewise.search.frontiers import make_frontiers
from likewise.search.proof import Split


class Inline(Executor):
    """Does the work at once, here; `tampered` changes answers, or is what comes instead of one."""

    def __init__(self, tampered=None):
        self.requests, self.tampered, self.greeted = [], tampered, 0

    def submit(self, work, *arguments):
        future = Future()
        if work is not parted_search.run_part:
            self.greeted += work is parted_search.greet
            future.set_result(work(*arguments))
            return future
        self.requests.append(arguments[0])
        answer = work(*arguments)
        answer = self.tampered(answer, len(self.requests)) if self.tampered else answer
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        elif answer is not Ellipsis:
            future.set_result(answer)
        return future


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Short parts from the first moment on, and a worker that knows nothing."""
    monkeypatch.setattr(workers, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(workers, "SPREAD_SECONDS", 0.0)
    monkeypatch.setattr(parted_search, "LEAST_SECONDS", 0.01)
    monkeypatch.setattr(parted_search, "MOST_SECONDS", 0.02)
    workers._KNOWN.__dict__.clear()


def verified(executor=None, size=10, gap=0.75, **more):
    model, space, similar = parity(size, gap)
    return lw.verify(model, space, similar, executor=executor, **more)


def test_one_proof_of_many_parts(monkeypatch):
    monkeypatch.setattr(parted_search, "LEAST_SECONDS", 0.001)
    monkeypatch.setattr(parted_search, "MOST_SECONDS", 0.001)
    executor = Inline()
    found = verified(executor, n_jobs=3)
    assert found.verdict == "FAIR"
    assert found.stats["checked"]
    assert len(executor.requests) > 5
    assert found.stats["cells"] == verified().stats["cells"]
    assert len({request.model for request in executor.requests}) == 1
    assert executor.greeted == 3  # once a worker
    assert all(request.content is None for request in executor.requests)


def test_a_witness_of_a_worker_ends_the_search():
    executor = Inline()
    found = verified(executor, gap=0.0)
    assert found.verdict == verified(gap=0.0).verdict


@pytest.mark.draw(4)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("certify", [False, True])
def test_the_same_bracket(name, certify):
    model, executor = MODELS[name].fit(*rows()), Inline()
    alone = lw.measure(model, SPACE, SIMILAR, certify=certify)
    parted = lw.measure(model, SPACE, SIMILAR, certify=certify, executor=executor)
    assert parted.lower == pytest.approx(alone.lower, abs=1e-6)
    assert parted.upper == pytest.approx(alone.upper, abs=2e-6)
    assert parted.proved == alone.proved
    assert (parted.certificate is None) == (alone.certificate is None)


def test_networks_are_searched_in_parts():
    X, y = rows()
    model = MLPRegressor(hidden_layer_sizes=(4,), max_iter=300, random_state=0, tol=1e-2).fit(X, y)
    alone, executor = lw.measure(model, SPACE, SIMILAR, tolerance=1e-3), Inline()
    parted = lw.measure(model, SPACE, SIMILAR, tolerance=1e-3, executor=executor)
    assert executor.requests
    assert (parted.lower, parted.upper) == pytest.approx((alone.lower, alone.upper), abs=1e-3)
    assert parted.proved


def test_levels_rise_while_parts_are_away():
    """Better pairs come back from parts that were asked an easier question than the ones sent since."""
    model = MODELS["rbf"].fit(*rows())
    with ThreadPoolExecutor(2) as executor:
        found = lw.measure(model, SPACE, SIMILAR, executor=executor)
    assert found.upper - found.lower <= 1.1e-6


def test_work_that_is_lost_is_done_again():
    errors = [BrokenExecutor("killed"), OSError("gone"), MemoryError()]
    executor = Inline(lambda answer, n: errors[n % 3] if n % 2 else answer)
    found = verified(executor)
    assert found.verdict == "FAIR"
    assert found.stats["cells"] == verified().stats["cells"]


def test_an_executor_that_loses_everything_ends_in_unknown():
    executor = Inline(lambda *_: BrokenExecutor("killed"))
    found = verified(executor, certify=False)
    assert found.verdict == "UNKNOWN"
    assert "the executor takes no more work" in found.reason
    assert len(executor.requests) == workers.MOST_LOSSES
    model = MODELS["rbf"].fit(*rows())
    bracket = lw.measure(model, SPACE, SIMILAR, executor=Inline(lambda *_: BrokenExecutor("killed")))
    true = lw.measure(model, SPACE, SIMILAR)
    assert bracket.lower <= true.upper
    assert true.lower <= bracket.upper < float("inf")


def test_an_executor_that_was_shut_down_ends_in_unknown():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    found = verified(executor)
    assert found.verdict == "UNKNOWN"
    assert "the executor takes no more work" in found.reason


@pytest.mark.some_days
def test_an_executor_that_does_not_answer_is_not_waited_for():
    began = time.perf_counter()
    found = verified(Inline(lambda *_: ...), size=24, budget=1.0)
    assert found.verdict == "UNKNOWN"
    assert time.perf_counter() - began < 6


def test_errors_of_the_work_itself_are_raised():
    with pytest.raises(ZeroDivisionError):
        verified(Inline(lambda *_: ZeroDivisionError("a bug")))


def test_workers_that_forgot_the_model_are_told_again():
    def forgetful(answer, n):
        workers._KNOWN.__dict__.clear()
        return answer

    executor = Inline(forgetful)
    assert verified(executor).verdict == "FAIR"
    assert any(request.content is None for request in executor.requests)


def lie(change):
    """An executor that changes the states of parts with something still open."""

    def tampered(answer, _):
        if answer is None or not answer.part.state.open or not any(answer.part.state.nodes):
            return answer
        return replace(answer, part=replace(answer.part, state=change(answer.part.state)))

    return Inline(tampered)


def moved(state):
    """The first split cuts beyond its cell."""
    place = next(n for n, node in enumerate(state.nodes) if isinstance(node, Split))
    nodes = list(state.nodes)
    nodes[place] = replace(nodes[place], at=nodes[place].at + 1e6)
    return replace(state, nodes=tuple(nodes))


@pytest.mark.parametrize(
    "change",
    [
        lambda state: replace(state, open=state.open[1:]),
        lambda state: replace(state, open=(*state.open, state.open[0])),
        lambda state: replace(state, open=(replace(state.open[0], hi=state.open[0].lo), *state.open[1:])),
        lambda state: replace(state, nodes=(*state.nodes, None)),
        moved,
    ],
)
def test_a_part_must_cover_what_it_was_given(change):
    with pytest.raises(InternalError):
        verified(lie(change))


def test_made_up_leaves_are_no_proof():
    """A worker that closes whatever it is given by a leaf of another cell: the checker refuses them, and what is left is searched on."""
    model, limit = MODELS["trees"].fit(*rows()), None
    limit = lw.measure(model, SPACE, SIMILAR).lower
    claim = model, SPACE, SIMILAR, lw.ScoreGap(0.999 * limit)
    leaf = lw.verify(*claim[:3], lw.ScoreGap(2 * limit)).certificate is not None
    assert leaf

    def close_all(answer, _):
        state = answer.part.state
        known = next((node for node in state.nodes if node is not None and not isinstance(node, Split)), None)
        if known is None:
            return answer
        nodes = tuple(known if node is None else node for node in state.nodes)
        return replace(
            answer, part=replace(answer.part, state=replace(state, nodes=nodes, open=(), witness=None))
        )

    found = lw.verify(*claim, executor=Inline(close_all))
    assert found.verdict != "FAIR"


def test_models_that_cannot_travel_are_searched_here():
    model, space, similar = parity(10, 0.75)
    model.secret = (n for n in range(3))  # a generator has no copy
    with pytest.warns(UserWarning, match="cannot be sent"):
        assert lw.verify(model, space, similar, n_jobs=2).verdict == "FAIR"


def wait_for_workers(monkeypatch):
    """Do nothing until a process is there: else the search may be over before."""
    usual = workers.Workers.welcome

    def welcome(self, *arguments):
        while not usual(self, *arguments):
            time.sleep(0.05)
        return True

    monkeypatch.setattr(workers.Workers, "welcome", welcome)


def test_whoever_deals_out_parts_searches_as_well(monkeypatch):
    """As long as nothing comes back from the other process the search goes on here."""
    sent, cells = [], []

    class Pool(Inline):
        def submit(self, work, *arguments):
            if work is not parted_search.run_part:
                return super().submit(work, *arguments)
            sent.append((Future(), work, arguments))
            return sent[-1][0]

        def shutdown(self, **_):
            pass

    class Watched(parted_search._PartedSearch):
        def __init__(self, frontiers, *more):
            super().__init__(frontiers, *more)
            watched.append(frontiers)

    def wait(futures, **_):
        cells.append(watched[0].cells)
        if len(cells) > 4:
            for future, work, arguments in sent:
                if not future.done():
                    future.set_result(work(*arguments))
        return usual(futures, timeout=0)

    watched, usual = [], parted_search.wait
    monkeypatch.setattr(workers, "_start_pool", lambda _: Pool())
    monkeypatch.setattr(parted_search, "_PartedSearch", Watched)
    monkeypatch.setattr(parted_search, "wait", wait)
    monkeypatch.setattr(parted_search, "HERE_SECONDS", 0.0)
    monkeypatch.setattr(parted_search, "POLL_SECONDS", 0.0)
    found = verified(n_jobs=2, size=10, budget=120)
    assert found.verdict == "FAIR"
    assert cells[0] < cells[1] < cells[2] < cells[3]
    assert found.stats["cells"] == verified(size=10).stats["cells"]


@pytest.mark.some_days
def test_a_process_that_is_killed_loses_its_work_alone_and_none_is_left_behind(monkeypatch):
    wait_for_workers(monkeypatch)
    usual, started, killed = workers.Workers.submit, {}, []

    def submit(self, work, *arguments):
        sent = usual(self, work, *arguments)
        processes = dict(self._pool._processes)
        started.update(processes)
        if work is not parted_search.greet and not killed and processes:
            killed.append(processes.popitem()[1])
            os.kill(killed[-1].pid, signal.SIGKILL)  # with what was just sent, or what was sent before
        return sent

    monkeypatch.setattr(workers.Workers, "submit", submit)
    found = verified(n_jobs=2, budget=120)
    assert found.verdict == "FAIR"
    assert len(killed) == 1
    assert found.stats["cells"] == verified().stats["cells"]
    assert len(started) >= 2
    until = time.perf_counter() + 60
    while any(map(alive, started)) and time.perf_counter() < until:
        time.sleep(0.1)
    assert not any(map(alive, started))


def alive(pid):
    """Whether a process is there (asked of the system: two threads wait for it, and only one of them learns of its end)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_executor_that_falls_silent_ends_in_unknown(monkeypatch):
    """From the third part on nothing comes back; a clock that jumps ahead stands for the minute that nobody wants to wait."""
    monkeypatch.setattr(parted_search, "SILENT_SECONDS", -1.0)
    monkeypatch.setattr(parted_search, "SILENT_FACTOR", -1.0)
    executor = Inline(lambda answer, sent: answer if sent < 3 else Ellipsis)
    found = verified(executor, n_jobs=2, budget=600)
    assert found.verdict == "UNKNOWN"
    assert found.reason.startswith("the executor takes no more work")
    assert found.bounds[1] < float("inf")


@pytest.mark.parametrize(("seconds", "parts"), [(600.0, 3), (3.0, 2)])
def test_no_part_waits_for_a_worker_when_time_is_nearly_up(seconds, parts):
    """It would begin too late to come back."""
    model, space, similar = parity(10, 0.75)
    frontiers = make_frontiers(posed(model, space, similar).task)
    frontiers.run(most=100)
    assert len(frontiers.open) > parted_search.PLENTY * 2
    frontiers.spend(Budget(seconds))
    silent = workers.Workers(2, Inline(lambda *_: Ellipsis))
    parcel = workers.Parcel(parted_search.TravellingTask.of(frontiers.all[0].task))
    search = parted_search._PartedSearch(frontiers, silent, parcel, float("inf"), None)
    search._deal()
    assert len(search.sent) == parts
