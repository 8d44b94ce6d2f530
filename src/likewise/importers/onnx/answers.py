"""What a network in a file answers, in scikit-learn's verbs, asked with rows of features.

ONNX Runtime is asked where it is installed and runs the graph, else every operator is run by NumPy in the precision of the file (`operators`). The runtime gets a graph that is made anew of what was read and checked, with the scores
before the last function as one more output. Files of PyTorch and Keras are always answered for by NumPy: theirs is another program. A file decides nothing by itself: it is taken to say the class with the largest score, the first one of several; of one score the second class where it is above 0.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.onnx.inputs import feature_names, feed, map_columns
from likewise.importers.onnx.model_file import Graph
from likewise.importers.onnx.operators import evaluate
from likewise.importers.onnx.reading import ReadNetwork
from likewise.importers.saved_boosters import Answers
from likewise.importers.score_models import MOST_SCORES
from likewise.model.head import NUMBER_HEAD, Head
from likewise.spec.model_reading import READ_AS_IT_IS, ModelReading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BY_HAND = "the file's own operators in NumPy, as ONNX Runtime {}"
NOT_ASKED = "the file's own layers in NumPy, as {} itself is not asked"


class NetworkModel(Answers):
    """A network and who answers for it."""

    def __init__(self, graph: Graph, network: ReadNetwork, reading: ModelReading = READ_AS_IT_IS) -> None:
        self.columns = map_columns(graph.inputs, reading.inputs)
        names = feature_names(self.columns)
        super().__init__(len(self.columns) if names is None else len(names), names)
        self.graph, self.network = graph, network
        if graph.label not in (None, graph.output, network.scores):
            raise UnsupportedModel(
                f"gives labels that are not the largest of its scores: they are made of {graph.label!r}",
                hint="export it without labels; Likewise takes the class with the largest score",
            )
        self.head = make_head(network, reading)
        if self.head.labels is not None:
            self.classes_ = np.array(self.head.labels, dtype=object)
        self._start()

    def _start(self) -> None:
        self._session, self.stand_in = None, None
        if self.graph.source != "ONNX":
            self.stand_in = NOT_ASKED.format(self.graph.source)
            return
        self._session, self.stand_in = start_session(self.graph, (self.graph.output, self.network.scores))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def _run(self, X: Any) -> tuple[Floats, Floats]:
        """The output and the scores, (rows, numbers)."""
        given, scores = feed(self.graph.inputs, self.columns, X), self.network.scores
        wanted = list(dict.fromkeys((self.graph.output, scores)))
        if self._session is None:
            made = evaluate(self.graph, given, wanted[1:])
        else:
            made = self._session.run(wanted, given)
        found = [np.asarray(one, dtype=np.float64).reshape(len(one), -1) for one in made]
        return found[0], found[-1]

    def decision_function(self, X: Any) -> Floats:
        scores = self._run(X)[1]
        if self.head.rule == "argmax":
            return scores
        lead: Floats = scores[:, -1] - scores[:, 0] if scores.shape[1] == 2 else scores[:, 0]
        return lead

    def shares(self, X: Any) -> Floats:
        output = self._run(X)[0]
        return output[:, 0] if output.shape[1] == 1 else output

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, or the number itself."""
        scores = self.decision_function(X)
        if self.head.labels is None:
            return scores
        places = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        labels: NDArray[Any] = self.classes_[places]
        return labels


def make_head(network: ReadNetwork, reading: ModelReading) -> Head:
    """How the scores of a network decide: by what comes after them, and by the labels that they are said to be of."""
    count, end, labels = network.n_scores, network.end, reading.labels
    if end is None and labels is None:
        if count > 1:
            raise UnsupportedModel(
                f"has {count} outputs, and whether they are scores of classes is not said",
                hint="say labels = [...] below [model] in the claim file, or export the model with a Softmax at the end",
            )
        return NUMBER_HEAD
    classes = max(count, 2)
    if count > MOST_SCORES or (end == "softmax" and count < 2):
        raise UnsupportedModel(f"has {count:,} scores; 2 to {MOST_SCORES:,} classes are read")
    if labels is not None and len(labels) != classes:
        raise UnsupportedModel(f"has {classes} classes, and model.labels has {len(labels)}")
    known = tuple(range(classes)) if labels is None else labels
    unlinked = (
        None
        if end
        else "its file has scores and no probabilities: export it with Sigmoid or Softmax at the end"
    )
    if classes == 2:
        return Head(labels=known, link="logistic" if end else None, unlinked=unlinked)
    return Head(labels=known, rule="argmax", link="softmax" if end else None, unlinked=unlinked)


def start_session(graph: Graph, outputs: Sequence[str]) -> tuple[Any, str | None]:
    """A session of ONNX Runtime for what was read of a file; or none, and who answers then."""
    if importlib.util.find_spec("onnxruntime") is None:
        return None, BY_HAND.format("is not installed")
    try:
        return _runtime(graph, outputs), None
    except Exception as error:  # noqa: BLE001 - an operator that the runtime lacks in this precision: NumPy answers then, and every answer says so
        return None, BY_HAND.format(f"does not run it ({type(error).__name__})")


def _runtime(graph: Graph, outputs: Sequence[str]) -> Any:
    import onnxruntime
    from onnx import helper, numpy_helper

    kinds = helper.np_dtype_to_tensor_dtype
    nodes = []
    for node in graph.nodes:
        attributes = {
            name: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
            for name, value in node.attributes.items()
        }
        domain, _, operator = node.operator.rpartition(".")
        made_by = [name for name in (node.label, node.output) if name]
        nodes.append(
            helper.make_node(operator, node.inputs, made_by, name=node.name, domain=domain, **attributes)
        )
    made = helper.make_graph(
        nodes,
        "network",
        [
            helper.make_tensor_value_info(one.name, kinds(one.dtype), ["rows", *one.shape])
            for one in graph.inputs
        ],
        [helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(outputs)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in graph.constants.items()],
    )
    used = {node.operator.rpartition(".")[0] for node in graph.nodes}
    more = [
        helper.make_opsetid(domain, version) for domain, version in graph.versions.items() if domain in used
    ]
    versions = [helper.make_opsetid("", graph.version), *more]
    model = helper.make_model(
        made, opset_imports=versions, ir_version=helper.find_min_ir_version_for(versions)
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
