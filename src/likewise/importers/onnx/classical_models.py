"""Classical models in a graph: columns of columns (`column_tracing`), one operator of `ai.onnx.ml` that scores them, and what makes probabilities of its scores.

    LinearClassifier, LinearRegressor, SVMClassifier, SVMRegressor      `machines`
    TreeEnsembleClassifier, TreeEnsembleRegressor                       `stored_trees`

A classifier decides before it transforms its scores, and its labels are those of the file. After it there may be ZipMap, Cast, Identity, and a Normalizer of what adds up to 1 already. ONNX Runtime is asked where it is installed, for labels, for what the graph
shows and for scores that nothing was made of (the operator once more, without `post_transform`); else the operators are run by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.trees.body import LEAF
from likewise.importers.onnx import joint_trees
from likewise.importers.onnx.answers import start_session
from likewise.importers.onnx.column_tracing import GraphColumns
from likewise.importers.onnx.inputs import feature_names, feed, map_columns
from likewise.importers.onnx.machines import LinearScores, VectorScores, read_linear, read_vectors
from likewise.importers.onnx.model_file import CLASSICAL, CLASSIFIERS, Graph, Node
from likewise.importers.onnx.stored_trees import StoredTrees, read_trees
from likewise.importers.saved_boosters import Answers
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.model_reading import ModelReading

    Floats = NDArray[np.float64]

REGRESSORS = tuple(
    f"{CLASSICAL}.{name}"
    for name in ("LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor", "TreeEnsemble")
)
SCORING = (*CLASSIFIERS, *REGRESSORS)
JOINT = joint_trees.OPERATOR
NORMALIZER = f"{CLASSICAL}.Normalizer"
TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
LIST_ATTRIBUTES = ("classlabels_ints", "classlabels_int64s", "classlabels_strings")
RAW = "scores of the model, not transformed"
LABEL = "label of the model"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoringNode:
    """The operator that scores, what is stored in it, and how it decides. `shown` makes the scores of the model of what it gives untransformed."""

    node: Node
    stored: LinearScores | VectorScores | StoredTrees
    head: Head
    shown: Callable[[Floats], Floats]
    own: Callable[[NDArray[Any]], Floats]  # what it gives untransformed, by NumPy
    tail: tuple[Node, ...]


def scoring_nodes(graph: Graph) -> list[Node]:
    """The nodes of a graph that score."""
    return [node for node in graph.nodes if node.operator in SCORING]


def is_classical(graph: Graph) -> bool:
    """Whether a classical model is in a graph."""
    return bool(scoring_nodes(graph))


def find_scoring(graph: Graph, labels: tuple[Any, ...] | None) -> tuple[Graph, ScoringNode]:
    """The graph in front of the operator that scores, and that operator."""
    found = scoring_nodes(graph)
    if len(found) > 1:
        raise UnsupportedModel(
            f"joins {len(found)} models ({found[0].operator}, ...)",
            hint="export them one by one, or verify the model that was exported",
        )
    node = found[0]
    place = graph.nodes.index(node)
    if node.operator == JOINT:
        node = replace(node, attributes=joint_trees.regressor_attributes(node))
    if len(node.inputs) != 1:
        node.refuse(f"has {len(node.inputs)} inputs")
    tail = graph.nodes[place + 1 :]
    front = _needed(graph, node.inputs[0])
    if graph.label not in (None, node.label or None):
        raise UnsupportedModel(
            "its labels are not those of the classifier in it",
            hint="a model that decides by something else is not read",
        )
    return front, _read_scoring(node, tail, labels)


def _needed(graph: Graph, output: str) -> Graph:
    """The nodes that lead to a tensor."""
    needed, names = [], {output}
    for node in reversed(graph.nodes):
        if node.output in names:
            needed.append(node)
            names.update(node.inputs)
    constants = {name: value for name, value in graph.constants.items() if name in names}
    return replace(graph, nodes=tuple(reversed(needed)), constants=constants, output=output)


def _read_scoring(node: Node, tail: tuple[Node, ...], labels: tuple[Any, ...] | None) -> ScoringNode:
    transform = node.attributes.get("post_transform", "NONE")
    if transform not in TRANSFORMS:
        node.refuse(f"has post_transform={transform!r}, which is not read")
    if node.operator in REGRESSORS:
        if transform != "NONE" or labels is not None:
            node.refuse(
                "is a regressor with post_transform, or with labels in the claim file",
                hint="numbers as they are: post_transform='NONE'",
            )
        return _read_regressor(node, tail)
    known = _labels(node) if labels is None else labels
    if len(known) != len(_labels(node)) or len(known) < 2:
        node.refuse(f"has {len(_labels(node))} classes, and {len(known)} labels")
    read = {
        "LinearClassifier": _linear_classifier,
        "SVMClassifier": _vector_classifier,
        "TreeEnsembleClassifier": _tree_classifier,
    }
    return read[node.operator.removeprefix(f"{CLASSICAL}.")](node, tail, known, transform)


def _labels(node: Node) -> tuple[Any, ...]:
    found: tuple[Any, ...] = next(
        (node.attributes[name] for name in LIST_ATTRIBUTES if node.attributes.get(name)), ()
    )
    if len(set(found)) < len(found):
        node.refuse("has a label twice", hint="the file is damaged")
    return found


# -- operators --------------------------------------------------------------------------------------------


def _read_regressor(node: Node, tail: tuple[Node, ...]) -> ScoringNode:
    stored: LinearScores | VectorScores | StoredTrees
    if any(one.operator not in ("Identity", "Cast", "Reshape", "Flatten") for one in tail):
        one = next(one for one in tail if one.operator not in ("Identity", "Cast", "Reshape", "Flatten"))
        one.refuse("comes after a model, which is read at the end only")
    if node.operator.endswith("LinearRegressor"):
        stored = read_linear(node)
        if len(stored.biases) > 1:
            node.refuse(
                f"gives {len(stored.biases)} numbers", hint="one number is read: export one model for each"
            )
    elif node.operator.endswith("SVMRegressor"):
        stored = read_vectors(node, 0)
    else:
        _single_target(node)
        stored = read_trees(node, "target", 1)
        _tree_bias(node, 1)
    return ScoringNode(
        node=node, stored=stored, head=NUMBER_HEAD, shown=_first, own=_program(node, stored), tail=tail
    )


def _single_target(node: Node) -> None:
    if node.attributes.get("n_targets", 1) != 1 or node.attributes.get("aggregate_function", "SUM") not in (
        "SUM",
        "AVERAGE",
    ):
        node.refuse(
            "gives several numbers, or the smallest or largest of its trees'",
            hint="sums and means of one number are read",
        )


def _linear_classifier(
    node: Node, tail: tuple[Node, ...], labels: tuple[Any, ...], transform: str
) -> ScoringNode:
    stored = read_linear(node)
    count = len(stored.biases)
    if count not in (len(labels), 1) or (count == 1 and len(labels) != 2):
        node.refuse(f"has {count} scores for {len(labels)} classes")
    opposite = count == 2 and bool(
        (stored.weights[0] == -stored.weights[1]).all() and stored.biases[0] == -stored.biases[1]
    )
    link = {"LOGISTIC": count == 1 or opposite, "SOFTMAX": count > 1 and not opposite}.get(transform, False)
    head = _head(labels, transform, tail, linked=link)
    shown = _all if len(labels) > 2 else _lead if count == 2 and not opposite else _last
    return ScoringNode(
        node=node, stored=stored, head=head, shown=shown, own=_program(node, stored), tail=tail
    )


def _vector_classifier(
    node: Node, tail: tuple[Node, ...], labels: tuple[Any, ...], transform: str
) -> ScoringNode:
    stored = read_vectors(node, len(labels))
    unlinked = "its machines iterate towards probabilities, or show none"
    if len(labels) == 2:
        head = Head(labels=labels, zero_is_upper=True, unlinked=unlinked)
        return ScoringNode(
            node=node, stored=stored, head=head, shown=_first, own=_program(node, stored), tail=tail
        )
    head = Head(labels=labels, rule="votes", unlinked=unlinked)
    if transform != "NONE" or node.attributes.get("prob_a"):
        node.refuse(
            "makes probabilities of the votes of several classes", hint="export it without probabilities"
        )
    return ScoringNode(node=node, stored=stored, head=head, shown=_all, own=_program(node, stored), tail=tail)


def _tree_classifier(
    node: Node, tail: tuple[Node, ...], labels: tuple[Any, ...], transform: str
) -> ScoringNode:
    targets = len(labels)
    stored = read_trees(node, "class", targets)
    bias = _tree_bias(node, targets)
    own = _program(node, stored)
    if targets > 2:
        if len(bias) != targets and stored.always != frozenset(range(targets)):
            node.refuse(
                "has a class for which some leaves have no weight, and programs differ in what becomes of that"
            )
        head = _head(
            labels,
            transform,
            tail,
            linked=transform == "SOFTMAX",
            shares=transform == "NONE" and _are_shares(node, stored),
        )
        return ScoringNode(node=node, stored=stored, head=head, shown=_all, own=own, tail=tail)
    if set(node.attributes["class_ids"]) != {0}:
        node.refuse(
            "has weights for both of two classes, of which ONNX Runtime makes labels in a way of its own",
            hint="export it with weights of one class",
        )
    if not _all_positive(node):
        head = _head(labels, transform, tail, linked=transform == "LOGISTIC")
        return ScoringNode(node=node, stored=stored, head=head, shown=_last, own=own, tail=tail)
    if transform != "NONE":
        node.refuse(
            f"has weights above 0 alone and post_transform={transform!r}, of which programs make different labels"
        )
    head = _head(labels, transform, tail, shares=_are_shares(node, stored))
    if head.link is None:
        head = Head(labels=labels, rule="argmax", unlinked=head.unlinked)
    return ScoringNode(node=node, stored=stored, head=head, shown=_all, own=own, tail=tail)


def _all_positive(node: Node) -> bool:
    return bool(min(node.attributes["class_weights"]) >= 0)


def _are_shares(node: Node, stored: StoredTrees) -> bool:
    """Whether all sums lie between 0 and 1, exactly: what is said of probabilities relies on it. Shares that are rounded to single precision may add up to more."""
    base = [Fraction(float(value)) for value in node.attributes.get("base_values", ())]
    ends = [base or [Fraction(0)] * stored.targets for _ in range(2)]
    for tree in stored.trees:
        leaves = tree.weights[tree.true == LEAF]
        for k, extreme in enumerate((leaves.min(axis=0), leaves.max(axis=0))):
            ends[k] = [end + Fraction(value) for end, value in zip(ends[k], extreme.tolist(), strict=False)]
    return min(ends[0]) >= 0 and max(ends[1]) <= 1


def _tree_bias(node: Node, targets: int) -> tuple[float, ...]:
    """What is added to the sums: nothing, or a number a target, of two classes one."""
    found = tuple(map(float, node.attributes.get("base_values", ())))
    if len(found) not in (0, 1 if targets == 2 else targets) or not np.isfinite(found).all():
        node.refuse(
            f"has {len(found)} base values for {targets} targets, of which programs make different things"
        )
    return found


def _head(
    labels: tuple[Any, ...],
    transform: str,
    tail: tuple[Node, ...],
    *,
    linked: bool = False,
    shares: bool = False,
) -> Head:
    """How scores decide, and whether what the graph shows is a known function of them."""
    after = [one for one in tail if one.operator not in ("Identity", "Cast")]
    through = all(
        one.operator == NORMALIZER and one.attributes.get("norm") == "L1" and not shares for one in after
    )
    unlinked = None
    if not (linked or shares) or not through:
        unlinked = f"its file makes no probabilities of its scores that are a known function of them (post_transform {transform})"
        if not through:
            unlinked = f"its file makes its probabilities by {after[0].operator}, which is not read"
        linked = shares = False
    if len(labels) > 2 or shares:
        return Head(
            labels=labels,
            rule="argmax",
            link="identity" if shares else "softmax" if linked else None,
            unlinked=unlinked,
        )
    return Head(labels=labels, link="logistic" if linked else None, unlinked=unlinked)


def _first(raw: Floats) -> Floats:
    return raw[:, 0]


def _last(raw: Floats) -> Floats:
    return raw[:, -1]


def _lead(raw: Floats) -> Floats:
    return raw[:, 1] - raw[:, 0]


def _all(raw: Floats) -> Floats:
    return raw


# -- by NumPy ---------------------------------------------------------------------------------------------


def _program(
    node: Node, stored: LinearScores | VectorScores | StoredTrees
) -> Callable[[NDArray[Any]], Floats]:
    """What the operator gives of columns without a transform, as the runtime would."""
    two = len(_labels(node)) == 2

    def scores(columns: NDArray[Any]) -> Floats:
        if not isinstance(stored, StoredTrees):
            found = stored.scores(columns)
            if isinstance(stored, VectorScores) and two:
                return np.concatenate([-found, found], axis=1)
            return np.concatenate([1 - found, found], axis=1) if two and found.shape[1] == 1 else found
        numbers = columns if columns.dtype == np.float64 else columns.astype(np.float32)
        sums = stored.sums(numbers).astype(np.float32)
        if node.attributes.get("aggregate_function") == "AVERAGE":
            sums = sums / np.float32(len(stored.trees))
        base = np.array(node.attributes.get("base_values") or (0.0,), dtype=np.float32)
        if not two:
            return np.asarray(sums + base, dtype=np.float64)
        upper = (sums[:, :1] + base[:1]).astype(np.float32)
        lower = np.float32(1) - upper if _all_positive(node) else -upper
        return np.concatenate([lower, upper], axis=1).astype(np.float64)

    return scores


class ClassicalModel(Answers):
    """A classical model of a file and who answers for it."""

    bits = 24

    def __init__(self, graph: Graph, reading: ModelReading) -> None:
        self.columns = map_columns(graph.inputs, reading.inputs)
        names = feature_names(self.columns)
        super().__init__(len(self.columns) if names is None else len(names), names)
        self.graph = graph
        front, self.scoring = find_scoring(graph, reading.labels)
        width = self.scoring.stored.width
        self.front = GraphColumns(
            front, self.columns, None if isinstance(self.scoring.stored, StoredTrees) else width
        )
        self.head = self.scoring.head
        self.file_labels = _labels(self.scoring.node)
        if self.head.labels is not None:
            self.classes_ = np.array(self.head.labels, dtype=object)
        self._start()

    def _start(self) -> None:
        node = scoring_nodes(self.graph)[0]
        attributes = {
            name: value for name, value in node.attributes.items() if name not in ("prob_a", "prob_b")
        }
        if node.operator in CLASSIFIERS:
            attributes["post_transform"] = "NONE"
        label = LABEL if node.label else ""
        extra = replace(node, name=RAW, output=RAW, label=label, attributes=attributes)
        wanted = [self.graph.output, RAW, *filter(None, [node.label])]
        self._wanted = list(dict.fromkeys(wanted))
        self._session, self.stand_in = start_session(
            replace(self.graph, nodes=(*self.graph.nodes, extra)), self._wanted
        )

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_session", "scoring")}
        return kept | {"labels": self.head.labels}

    def __setstate__(self, state: dict[str, Any]) -> None:
        labels = state.pop("labels")
        self.__dict__.update(state)
        self.scoring = find_scoring(self.graph, labels)[1]
        self._start()

    def __copy__(self) -> ClassicalModel:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def _run(self, X: Any) -> dict[str, Any]:
        if self._session is not None:
            return dict(
                zip(
                    self._wanted,
                    self._session.run(self._wanted, feed(self.graph.inputs, self.columns, X)),
                    strict=True,
                )
            )
        return {RAW: self.scoring.own(self.front.precise(X))}

    def _raw(self, X: Any) -> Floats:
        found = np.asarray(self._run(X)[RAW], dtype=np.float64)
        return found.reshape(len(found), -1)

    def decision_function(self, X: Any) -> Floats:
        return self.scoring.shown(self._raw(X))

    def shares(self, X: Any) -> Floats:
        """What the graph shows as probabilities; where NumPy answers, made of the scores."""
        made = self._run(X)
        if self.graph.output in made:
            found = np.asarray(made[self.graph.output], dtype=np.float64)
            if found.shape != (len(found), len(self.file_labels)):
                raise UnsupportedModel(f"shows {found.shape[1:]} numbers per row for its classes")
            return found
        scores = self.scoring.shown(made[RAW])
        if self.head.link == "identity":
            return scores
        if self.head.link == "logistic":
            upper = 0.5 * (np.tanh(0.5 * scores) + 1)
            return np.stack([1 - upper, upper], axis=1)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: Floats = powers / powers.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, or the number itself."""
        if self.head.labels is None:
            return self.decision_function(X)
        made = self._run(X)
        node = self.scoring.node
        if node.label in made:
            places = [self.file_labels.index(label) for label in np.ravel(made[node.label]).tolist()]
        else:
            places = self._places(self.scoring.shown(np.asarray(made[RAW], dtype=np.float64)))
        labels: NDArray[Any] = self.classes_[places]
        return labels

    def _places(self, scores: Floats) -> list[int]:
        if self.head.rule == "sign":
            above = scores >= 0 if self.head.zero_is_upper else scores > 0
            return [int(one) for one in above.tolist()]
        return [self.head.place([Fraction(value) for value in row]) for row in scores.tolist()]


class TreesModel(ClassicalModel):
    """The same of trees, which are read by their thresholds."""


def load_classical(graph: Graph, reading: ModelReading) -> ClassicalModel:
    """The model in a graph."""
    trees = scoring_nodes(graph)[0].operator.startswith(f"{CLASSICAL}.TreeEnsemble")
    return (TreesModel if trees else ClassicalModel)(graph, reading)
