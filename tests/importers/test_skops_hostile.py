"""Files of skops that somebody made to do harm: refused before anything is called that could do it."""

import copy
import io
import json
import warnings
import zipfile

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import NMF
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid, RadiusNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, NuSVC
from sklearn.tree import DecisionTreeClassifier
from tests.fuzz.skops_files import ALLOWED, ask, skops_mutants
from tests.tiers import ALL, SEED

from likewise.errors import DataError, SpecError, UnsupportedModel
from likewise.importers import fitted_state
from likewise.importers.files import load_model, reading_parts
from likewise.importers.lightgbm.model_file import read_lightgbm, write_lightgbm
from likewise.importers.skops_files import read_skops
from likewise.spec.disk import memory_limit
from likewise.spec.file import read_spec

RANDOM = np.random.default_rng(7)
X = np.column_stack([RANDOM.random(40), RANDOM.integers(0, 4, 40)])
Y = (X[:, 0] / 2 + X[:, 1] % 2 > 0.75).astype(int)


def dumped(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skops.io.dumps(model)


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def with_schema(content, change):
    files = unpacked(content)
    schema = json.loads(files["schema.json"])
    change(schema)
    return packed({**files, "schema.json": json.dumps(schema).encode()})


def nodes(schema):
    if isinstance(schema, dict):
        if "__loader__" in schema:
            yield schema
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from nodes(part)


def logistic():
    return LogisticRegression(solver="liblinear").fit(X, Y)


# -- names ------------------------------------------------------------------------------------------------


def calling(mark, module="os", name="system"):
    """A file that calls a function with a text when it is loaded: as the type of a key."""

    def change(schema):
        state = schema["content"]
        called = {"__class__": name, "__module__": module, "__loader__": "TypeNode", "__id__": 4}
        state["key_types"]["content"][0] = called
        state["content"] = {f"touch {mark}": next(iter(state["content"].values())), **dict(list(state["content"].items())[1:])}  # fmt: skip

    return with_schema(dumped(logistic()), change)


@pytest.mark.parametrize("module", ["os", "posix"])
def test_a_function_is_not_called_whoever_trusts_it(module, tmp_path):
    mark = tmp_path / "mark"
    with pytest.raises(UnsupportedModel):
        read_skops(calling(mark, module), trust=[f"{module}.system"])
    assert not mark.exists()


@pytest.mark.parametrize(("module", "name"), [("posix", "system"), ("io", "FileIO")])
def test_types_of_keys_are_those_of_texts_and_numbers_whatever_is_trusted(module, name, tmp_path):
    """As skops calls them with the text of the key."""
    mark = tmp_path / "mark"

    def change(schema):
        called = {"__class__": name, "__module__": module, "__loader__": "TypeNode", "__id__": 4}
        kinds = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "__id__": 5, "content": [called]}  # fmt: skip
        value = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "__id__": 6, "content": "1", "is_json": True}  # fmt: skip
        schema["content"]["content"]["class_weight"] = {
            "__class__": "dict", "__module__": "builtins", "__loader__": "DictNode", "__id__": 7,
            "key_types": kinds, "content": {f"touch {mark}": value},
        }  # fmt: skip

    with pytest.raises(UnsupportedModel, match="the type of a key"):
        read_skops(with_schema(dumped(logistic()), change), trust=[f"{module}.{name}"])
    assert not mark.exists()


@pytest.mark.parametrize("key", [1, 0.5, True, "one", np.int64(1), np.float32(0.5), np.str_("one")])
def test_keys_of_dicts_are_numbers_and_texts(key):
    model = logistic()
    model.class_weight = {key: 1.0}
    assert read_skops(dumped(model)).class_weight == {key: 1.0}


def test_claim_files_trust_nobody(tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text(
        '[model]\npath = "m.skops"\ntrust = ["os.system"]\n[features.sex]\nkind = "categorical"\nlevels = [0, 1]\n'
    )
    with pytest.raises(SpecError, match=r"(?s)cannot say which types.*hint: .*--trust os\.system"):
        read_spec(path)


def test_what_to_pass_has_no_words_for_a_shell(tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text('[model]\ntrust = ["a.b", "c; rm d", "$(e)"]\n')
    with pytest.raises(SpecError) as refused:
        read_spec(path)
    assert refused.value.hint.endswith("pass --trust a.b")


# -- arrays -----------------------------------------------------------------------------------------------


def sparse_file(change):
    """The file of a machine fitted on sparse rows, whose parts were changed."""
    files = unpacked(dumped(SVC().fit(sparse.csr_array(X), Y)))
    name = sorted(name for name in files if name.endswith(".npz"))[0]
    parts = dict(np.load(io.BytesIO(files[name])))
    change(parts)
    written = io.BytesIO()
    np.savez(written, **parts)
    return packed({**files, name: written.getvalue()})


def set_entry(name, place, value):
    def change(parts):
        parts[name] = parts[name].copy()
        parts[name][place] = value

    return change


SPARSE = {
    "column beyond the last": set_entry("indices", 0, 10**6),
    "column below zero": set_entry("indices", 0, -5),
    "rows that end beyond the entries": set_entry("indptr", -1, 10**6),
    "rows in no order": set_entry("indptr", 1, 10**4),
    "first row elsewhere": set_entry("indptr", 0, 1),
    "more rows": set_entry("shape", 0, 10**9),
    "rows below zero": set_entry("shape", 0, -1),
    "fewer entries": lambda parts: parts.update(data=parts["data"][:-1]),
    "no whole numbers": lambda parts: parts.update(indices=parts["indices"].astype(float)),
    "other format": lambda parts: parts.update(format=np.array(b"csc")),
    "a format of other parts": lambda parts: parts.update(format=np.array(b"bsr")),
    "a part more": lambda parts: parts.update(offsets=np.array([0])),
    "a matrix for an array": lambda parts: parts.update(_is_array=np.array("_is_array" not in parts)),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_matrices_whose_indices_leave_them_are_refused(name):
    with pytest.raises(UnsupportedModel, match="not sound"):
        read_skops(sparse_file(SPARSE[name]))
    read_skops(sparse_file(lambda _: None))


def npy(header, data=b"\0" * 16):
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


HEADERS = {
    "more entries than there are": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
    "fewer": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}"),
    "entries of no size": npy("{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000000,)}", b""),
    "below zero": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -2)}"),
    "a pickle": npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_arrays_have_as_many_entries_as_they_say(name):
    files = unpacked(dumped(logistic()))
    member = next(member for member in files if member.endswith(".npy"))
    with pytest.raises(UnsupportedModel, match="not sound"):
        read_skops(packed({**files, member: HEADERS[name]}))


# -- the schema -------------------------------------------------------------------------------------------


def first(schema, loader):
    return next(node for node in nodes(schema) if node["__loader__"] == loader)


def twister(field, value):
    def change(schema):
        inner = first(schema, "RandomStateNode")["content"]["content"]
        place = inner if field in inner else inner["state"]["content"]
        place[field].update(content=value, __id__=9)

    return change


def put(loader, **values):
    def change(schema):
        first(schema, loader).update(__id__=9, **values)

    return change


SCHEMAS = {
    "fewer types of keys": lambda schema: schema["content"]["key_types"]["content"].pop(),
    "more types of keys": lambda schema: schema["content"]["key_types"]["content"].append(schema["content"]["key_types"]["content"][0]),
    "a number that is a list": put("JsonNode", content="[1]"),
    "a name that is none": put("TypeNode", __class__="str.join"),
    "a value by its number alone": put("JsonNode", __loader__="CachedNode"),
    "a method": put("JsonNode", __loader__="MethodNode", content={"func": "fit", "obj": {}}),
    "a key more": put("JsonNode", more=1),
    "random numbers beyond their state": twister("pos", "1000000"),
    "random numbers of another kind": twister("bit_generator", '"Philox"'),
    "a sparse matrix in parts": put("ObjectNode", __module__="scipy.sparse._csr", __class__="csr_matrix"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_that_skops_does_not_write_are_refused(name):
    model = LogisticRegression(random_state=np.random.RandomState(3), solver="liblinear").fit(X, Y)
    with pytest.raises(UnsupportedModel, match=r"not sound|not on the trusted list"):
        read_skops(with_schema(dumped(model), SCHEMAS[name]))
    read_skops(dumped(model))


def test_no_module_is_imported_for_a_loss(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "hostile_loss.py").write_text("raise SystemExit('imported')")
    content = dumped(SGDClassifier(random_state=0).fit(X, Y))
    with pytest.raises(UnsupportedModel, match="not sound"):
        read_skops(with_schema(content, put("LossNode", __module__="hostile_loss")))


def test_what_is_said_twice_is_refused():
    files = unpacked(dumped(logistic()))
    twice = files["schema.json"].replace(
        b'"__class__": "LogisticRegression"', b'"__class__": "X", "__class__": "LogisticRegression"'
    )
    with pytest.raises(UnsupportedModel, match="says the same twice"):
        read_skops(packed({**files, "schema.json": twice}))


def test_two_members_of_one_name_are_refused():
    files = unpacked(dumped(logistic()))
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as archive:
        warnings.simplefilter("ignore")
        for name, data in [*files.items(), *files.items()]:
            archive.writestr(name, data)
    with pytest.raises(UnsupportedModel, match="two members have one name"):
        read_skops(made.getvalue())


def test_what_unpacks_to_too_much_is_refused():
    with memory_limit(1000), pytest.raises(DataError, match="memory"):
        read_skops(dumped(logistic()))


def with_attribute(content, schema, name, part, **members):
    """The file with an attribute of the model more, which comes first."""
    schema = copy.deepcopy(schema)
    state = schema["content"]
    state["content"] = {name: part, **state["content"]}
    kinds = state["key_types"]["content"]
    kinds.insert(0, {**kinds[0], "__id__": 4243})
    return packed({**unpacked(content), **members, "schema.json": json.dumps(schema).encode()})


def test_a_value_under_the_name_of_a_number_is_counted():
    """The attribute `__id__` holds the nodes of a tree that are constructed, the tree itself those that are
    looked at."""
    content = dumped(DecisionTreeClassifier(max_depth=2).fit(X, Y))
    schema = json.loads(unpacked(content)["schema.json"])
    part = first(schema, "TreeNode")["content"]["content"]["nodes"]
    part["__id__"] = 4242
    found = np.load(io.BytesIO(unpacked(content)[part["file"]]))
    found["feature"][0] = 10**8
    written = io.BytesIO()
    np.save(written, found)
    other = {**part, "file": "other.npy"}
    with pytest.raises(UnsupportedModel, match="two different values"):
        read_skops(with_attribute(content, schema, "__id__", other, **{"other.npy": written.getvalue()}))
    assert read_skops(with_attribute(content, schema, "__id__", part))


@pytest.mark.parametrize("whole", [False, True])
def test_boosters_are_constructed_from_what_was_written_anew(whole, monkeypatch):
    """Also if the library's own text comes before, under the number of the handle, or of all that is held."""
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=2, min_child_samples=3, verbose=-1).fit(X, Y)
    content = dumped(model)
    schema = json.loads(unpacked(content)["schema.json"])
    held = next(node for node in nodes(schema) if node["__class__"] == "Booster")["content"]
    text = held["content"]["_handle" if "_handle" in held["content"] else "handle"]
    part = held if whole else text
    part["__id__"] = 4242
    taken, pointer = [], lightgbm.basic._c_str
    monkeypatch.setattr(lightgbm.basic, "_c_str", lambda said: (taken.append(said), pointer(said))[1])
    found = read_skops(with_attribute(content, schema, "first", copy.deepcopy(part)))
    loaded = [said for said in taken if said.startswith("tree\n")]
    anew = write_lightgbm(read_lightgbm(json.loads(text["content"]).encode()))
    assert loaded == [anew]
    assert anew != json.loads(text["content"])
    assert (found.predict_proba(X) == model.predict_proba(X)).all()


# -- what is fitted ---------------------------------------------------------------------------------------


def held(**values):
    def change(model):
        for name, value in values.items():
            setattr(model, name, value)

    return change


def changed(name, make):
    def change(model):
        setattr(model, name, make(copy.deepcopy(getattr(model, name))))

    return change


def labelled(value):
    def make(labels):
        labels[0] = value
        return labels

    return make


def inside(name, change):
    return lambda model: change(getattr(model, name))


def neighbours():
    return KNeighborsClassifier(algorithm="brute", metric="euclidean")


def boosting():
    return GradientBoostingClassifier(n_estimators=2, max_depth=2)


def histograms():
    return HistGradientBoostingClassifier(max_iter=9, min_samples_leaf=3, categorical_features=[1])


def wide_tree(model):
    model.estimators_[0, 0] = DecisionTreeClassifier(max_depth=2).fit(np.hstack([X, X]), Y)


def masked(values):
    return np.ma.MaskedArray(values, np.ones(np.shape(values)))


def network():
    return MLPClassifier((2,), max_iter=2, random_state=0)


def stack():
    return StackingClassifier([("one", logistic())], final_estimator=logistic(), cv=2)


def votes():
    return VotingClassifier([("one", logistic())])


def isotonic():
    return CalibratedClassifierCV(logistic(), method="isotonic", cv=2)


def within_calibrator(change):
    return lambda model: change(model.calibrated_classifiers_[0].calibrators[0])


def columns():
    return make_column_transformer((StandardScaler(), [0]), remainder="passthrough")


FITTED = {
    "coefficients that predict does not use": (SVC(), changed("dual_coef_", lambda c: c * 2)),
    "coefficients of three classes": (NuSVC(nu=0.2), changed("dual_coef_", lambda c: np.nextafter(c, 2))),
    "an intercept that predict does not use": (SVC(kernel="linear"), changed("intercept_", lambda b: b + 1)),
    "an intercept of a regressor": (SVR(), changed("intercept_", lambda b: -b)),
    "an intercept behind a mask": (logistic(), changed("intercept_", masked)),
    "complex coefficients": (logistic(), changed("coef_", lambda c: c * 1j)),
    "longer coefficients": (logistic(), changed("coef_", lambda c: c.astype(np.longdouble))),
    "isotonic steps that end elsewhere": (isotonic(), within_calibrator(lambda c: held(X_max_=c.X_max_ - 1e-3)(c))),
    "isotonic steps in no order": (isotonic(), within_calibrator(changed("X_thresholds_", lambda x: x[::-1].copy()))),
    "isotonic steps that end in nothing": (isotonic(), within_calibrator(held(out_of_bounds="nan"))),
    "columns of another step": (columns(), inside("_transformer_to_input_indices", lambda i: i.update(remainder=[0]))),
    "bins of another number": (KBinsDiscretizer(3), changed("n_bins_", lambda n: n + 1)),
    "bins in no order": (KBinsDiscretizer(3), lambda m: m.bin_edges_.__setitem__(0, m.bin_edges_[0][::-1].copy())),
    "codes of other bins": (KBinsDiscretizer(3), inside("_encoder", changed("categories_", lambda c: [c[0] + 1, c[1]]))),
    "splines that are left out": (SplineTransformer(n_knots=3), held(include_bias=False)),
    "in a fit": (histograms(), held(_in_fit=True)),
    "fewer layers": (network(), held(n_layers_=2)),
    "another last function": (network(), held(out_activation_="softmax")),
    "another threshold": (network(), inside("_label_binarizer", held(pos_label=1.001))),
    "other labels": (network(), inside("_label_binarizer", held(classes_=np.array([1, 0])))),
    "members that are not asked": (BaggingClassifier(logistic(), 3), held(n_estimators=2)),
    "another question to members": (stack(), held(stack_method_=["fit_predict"])),
    "vectors of classes below zero": (SVC(), held(_n_support=np.array([-1000, 1000 + 40], dtype=np.int32))),
    "vectors of a regressor": (SVR(), held(_n_support=np.array([10**6, 0], dtype=np.int32))),
    "vectors of three classes": (NuSVC(nu=0.2), held(_n_support=np.array([1, 1, 1], dtype=np.int32))),
    "fewer coefficients": (SVC(), changed("_dual_coef_", lambda c: c[:, :1].copy())),
    "no intercept": (SVC(), changed("_intercept_", lambda c: c[:0])),
    "fewer indices of vectors": (SVC(), changed("support_", lambda c: c[:1])),
    "vectors of fewer columns": (SVC(), changed("support_vectors_", lambda c: np.ascontiguousarray(c[:, :1]))),
    "probabilities of fewer pairs": (SVC(), held(_probA=np.zeros(7), _probB=np.zeros(7))),
    "classes more": (SVC(), held(classes_=np.arange(9))),
    "a kernel of rows": (SVC(), held(kernel="precomputed")),
    "a function for a kernel": (SVC(), held(kernel=np.add)),
    "another machine": (SVC(), held(_impl="epsilon_svr")),
    "sparse that is not": (SVC(), held(_sparse=True)),
    "label beyond the last": (neighbours(), changed("_y", labelled(10**9))),
    "label below zero": (neighbours(), changed("_y", labelled(-(10**9)))),
    "fewer labels": (neighbours(), changed("_y", lambda y: y[:1])),
    "more neighbours than rows": (neighbours(), held(n_neighbors=10**6, n_samples_fit_=10**7)),
    "distances with weights": (neighbours(), held(effective_metric_params_={"w": np.ones(1)})),
    "labels of a radius": (RadiusNeighborsClassifier(5.0, algorithm="brute"), changed("_y", labelled(10**9))),
    "centres of fewer columns": (KMeans(2, n_init=1), changed("cluster_centers_", lambda c: np.ascontiguousarray(c[:, :1]))),
    "more factors": (NMF(1, max_iter=9), held(_n_components=1000)),
    "fewer columns of codes": (OneHotEncoder(), held(_n_features_outs=[40, 1])),
    "codes of fewer columns": (OneHotEncoder(), held(_n_features_outs=[40])),
    "levels in no order": (OneHotEncoder(), changed("categories_", lambda c: [c[0], c[1][::-1].copy()])),
    "a code beyond the rare": (OneHotEncoder(min_frequency=12), lambda m: m._default_to_infrequent_mappings[1].__setitem__(0, 99)),
    "a code left out beyond the last": (OneHotEncoder(drop="first"), held(_drop_idx_after_grouping=np.array([0, 99], dtype=object))),
    "degree of a spline": (SplineTransformer(n_knots=3), inside("bsplines_", lambda s: setattr(s[0], "k", 50))),
    "fewer coefficients of a spline": (SplineTransformer(n_knots=3), inside("bsplines_", lambda s: setattr(s[0], "_c", s[0]._c[:1]))),
    "knots in no order": (SplineTransformer(n_knots=3), inside("bsplines_", lambda s: setattr(s[0], "_t", s[0]._t[::-1].copy()))),
    "more classes than trees": (boosting(), held(classes_=np.arange(7.0))),
    "trees of more classes": (boosting(), changed("estimators_", lambda e: np.hstack([e, e]))),
    "another tree": (boosting(), wide_tree),
    "numbers for trees": (boosting(), changed("estimators_", lambda e: np.ones((1, 1), dtype=object))),
    "fewer columns of bins": (histograms(), inside("_bin_mapper", changed("is_categorical_", lambda c: c[:1]))),
    "no categories": (histograms(), inside("_bin_mapper", changed("is_categorical_", np.zeros_like))),
    "columns that are left out": (histograms(), inside("_preprocessor", changed("transformers_", lambda t: t[:1]))),
    "more classes than columns of trees": (histograms(), held(classes_=np.arange(4))),
    "trees of more columns": (histograms(), held(n_trees_per_iteration_=2)),
    "a row of trees more": (histograms(), changed("_predictors", lambda p: [*p, p[0] * 2])),
    "other columns of categories": (histograms(), held(is_categorical_=np.array([True, False]))),
    "numbers before categories": (histograms(), inside("_preprocessor", changed("transformers_", lambda t: t[::-1]))),
    "numbers in single precision": (histograms(), lambda m: m._preprocessor.transformers_[1][1].func.keywords.update(dtype=[np.float32])),
    "classes twice": (logistic(), held(classes_=np.array([0, 1, 0, 1]))),
    "labels of votes kept twice": (votes(), inside("le_", held(classes_=np.array([0, 2])))),
    "votes for other numbers": (votes(), lambda m: held(classes_=np.array([0, 2]))(m.estimators_[0])),
    "labels of a stack kept twice": (stack(), inside("_label_encoder", held(classes_=np.array([0, 2])))),
    "other numbers of a stack": (stack(), inside("final_estimator_", held(classes_=np.array([0, 2])))),
    "duels of other numbers": (OneVsOneClassifier(LogisticRegression()), lambda m: held(classes_=np.array([0, 2]))(m.estimators_[0])),
    "another threshold of classes": (OneVsRestClassifier(LogisticRegression()), inside("label_binarizer_", held(pos_label=3))),
    "labels of classes kept twice": (OneVsRestClassifier(LogisticRegression()), inside("label_binarizer_", held(classes_=np.array([0, 2])))),
    "columns of a bag": (BaggingClassifier(logistic(), 2), held(n_classes_=3)),
    "a tree of fewer classes": (RandomForestClassifier(2), lambda m: held(n_classes_=1)(m.estimators_[0])),
    "more centroids than classes": (NearestCentroid(), changed("centroids_", lambda c: np.vstack([c, c]))),
    "more likelihoods than classes": (ComplementNB(), changed("feature_log_prob_", lambda c: np.vstack([c, c]))),
    "labels of a process kept twice": (GaussianProcessClassifier(optimizer=None), inside("base_estimator_", held(classes_=np.array([0, 2])))),
    "columns of a tree": (DecisionTreeClassifier(max_depth=2), held(n_features_in_=1)),
    "columns below zero": (LogisticRegression(), held(n_features_in_=-1)),
    "names of columns": (LogisticRegression(), held(feature_names_in_=np.array([1, 2], dtype=object))),
    "a method": (LogisticRegression(), held(predict=np.sqrt)),
    "a step before": (IsotonicRegression(), held(transform=np.sqrt)),
}  # fmt: skip


@pytest.mark.parametrize("name", FITTED)
def test_parts_that_do_not_fit_together_are_refused(name):
    model, change = FITTED[name]
    rows = X[:, :1] if isinstance(model, IsotonicRegression) else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = copy.deepcopy(model).fit(rows, Y)
    read_skops(dumped(model))
    change(model)
    with pytest.raises(UnsupportedModel, match="not sound"):
        read_skops(dumped(model))


def test_members_of_soft_votes_may_have_labels_of_their_own():
    model = VotingClassifier([("one", FrozenEstimator(logistic()))], voting="soft").fit(
        X, np.array(["a", "b"])[Y]
    )
    assert read_skops(dumped(model)).predict(X).tolist() == model.predict(X).tolist()


def test_deeper_than_it_says():
    model = DecisionTreeClassifier(max_depth=4).fit(X, Y)

    def change(schema):
        tree = first(schema, "TreeNode")
        tree["content"]["content"]["max_depth"].update(content="1", __id__=9)

    with pytest.raises(UnsupportedModel, match="not as deep as it says"):
        read_skops(with_schema(dumped(model), change))


# -- what is called ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [CountVectorizer, HashingVectorizer, FeatureHasher, DictVectorizer])
def test_what_reads_files_or_divides_by_what_it_is_told_needs_trust(kind, tmp_path):
    told = {"input": "filename"} if kind in (CountVectorizer, HashingVectorizer) else {}
    model = make_pipeline(kind(**told), logistic())
    (tmp_path / "m.skops").write_bytes(dumped(model))
    name = f"{kind.__module__}.{kind.__name__}"
    with pytest.raises(UnsupportedModel, match=rf"(?s)not on the trusted list.*--trust {name}"):
        load_model(tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops", trust=[name])


@pytest.mark.parametrize("called", [list, map, str, np.mean, np.str_, np.void])
def test_functions_of_columns_are_those_of_numpy(called):
    for model in (
        make_pipeline(FunctionTransformer(called), logistic()),
        TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=called),
    ):
        with pytest.raises(UnsupportedModel, match=r"not sound|would call functions|not on the trusted list"):
            read_skops(dumped(model))


def test_a_function_of_columns_writes_nowhere_else():
    """Into the coefficients, say."""
    model = make_pipeline(FunctionTransformer(np.arctan, kw_args={"out": np.zeros((40, 2))}), logistic())
    with pytest.raises(UnsupportedModel, match="not sound"):
        read_skops(dumped(model))


def test_the_first_scores_of_boosting_are_looked_at_before_they_are_asked():
    model = GradientBoostingRegressor(n_estimators=2, init=SVR()).fit(X, X[:, 0])
    read_skops(dumped(model))
    model.init_._n_support = np.array([10**6, 0], dtype=np.int32)
    with pytest.raises(UnsupportedModel, match="SVR that is not sound"):
        read_skops(dumped(model))


def test_a_class_is_no_function_of_columns():
    """The class of a booster, which opens files."""
    content = dumped(make_pipeline(FunctionTransformer(np.float32), logistic()))

    def change(schema):
        called = next(node for node in nodes(schema) if node["__class__"] == "float32")
        called.update(__module__="xgboost.core", __class__="Booster")

    with pytest.raises(UnsupportedModel, match=r"not sound|not on the trusted list"):
        read_skops(with_schema(content, change))


def test_everything_runs_in_one_thread():
    voting = VotingClassifier([("forest", RandomForestClassifier(2))])
    model = make_pipeline(voting, memory="somewhere").fit(X, Y)
    predicted = model.predict(X)
    voting.n_jobs = voting.estimators_[0].n_jobs = voting.estimators[0][1].n_jobs = 64
    found = read_skops(dumped(model))
    voting = found[-1]
    assert found.memory is None
    assert voting.n_jobs == voting.estimators_[0].n_jobs == voting.estimators[0][1].n_jobs == 1
    assert (found.predict(X) == predicted).all()


def test_settings_in_dicts_start_no_threads():
    model = logistic()
    model.params = {"n_jobs": 64, "inner": {"n_jobs": 64}}
    assert read_skops(dumped(model)).params == {"n_jobs": 1, "inner": {"n_jobs": 1}}


def test_what_predicts_is_what_is_read():
    """A machine with a bump at one place in the coefficients that predict uses, and without it in the others:
    no check of some rows finds it."""
    rows = np.array([[33.0, 44.0], [60.0, 90.0], [20.0, 10.0], [50.0, 50.0]])
    model = SVC(gamma=30.0).fit(rows, [0, 1, 0, 1])
    model.support_vectors_, model.support_ = rows[:2], np.arange(2, dtype=np.int32)
    model._n_support = np.array([1, 1], dtype=np.int32)
    model._dual_coef_, model._intercept_ = np.array([[-1.0, 0.0]]), np.array([0.5])
    model.dual_coef_, model.intercept_ = -model._dual_coef_, -model._intercept_
    found = read_skops(dumped(model))
    assert found.predict(rows[:2]).tolist() == [1, 0]
    model.dual_coef_ = np.zeros((1, 2))
    with pytest.raises(UnsupportedModel, match="SVC that is not sound"):
        read_skops(dumped(model))


BISECTING = "sklearn.cluster._bisect_k_means._BisectingTree"


def bisections():
    return BisectingKMeans(3, random_state=0).fit(X)


def test_bisections_are_loaded_where_their_tree_is_trusted():
    model = bisections()
    with pytest.raises(UnsupportedModel, match=f"--trust {BISECTING}"):
        read_skops(dumped(model))
    assert (read_skops(dumped(model), [BISECTING]).predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: setattr(tree.left, "center", tree.left.center[:1]),
        lambda tree: setattr(tree, "left", None),
        lambda tree: [setattr(one, "label", -1) for one in (tree.left, tree.right)],
    ],
)
def test_bisections_that_leave_their_tree_are_refused(change):
    model = bisections()
    change(model._bisecting_tree)
    with pytest.raises(UnsupportedModel, match="is not sound"):
        read_skops(dumped(model), [BISECTING])


@pytest.mark.parametrize("kind", ["kd", "ball"])
def test_trees_of_neighbours_are_refused_whoever_trusts_them(kind):
    """Their compiled state is never set, as nothing compares it."""
    content = dumped(KNeighborsClassifier(algorithm=f"{kind}_tree").fit(X, Y))
    with pytest.raises(UnsupportedModel, match="the state of an object"):
        read_skops(content, skops.io.get_untrusted_types(data=content))


def test_defects_behind_the_readers_are_no_fault_of_the_file():
    """An exception in a reader is about a part of the file; in what comes behind it, it is a defect of ours."""
    from likewise.model import head
    from likewise.spec import space

    with pytest.raises(UnsupportedModel, match="a part of the model"), reading_parts("model.skops"):
        fitted_state._fits_machine(object())
    with pytest.raises(AttributeError), reading_parts("model.json"):
        fitted_state._fits_machine(object())
    for module in (head, space):
        code = compile("def broken():\n    raise KeyError('ours')", "ours", "exec")
        held = {"__name__": module.__name__}
        exec(code, held)  # noqa: S102 - a function of that module
        with pytest.raises(KeyError, match="ours"), reading_parts("model.skops"):
            held["broken"]()


def test_damaged_files_end_in_words(tmp_path):
    """`python -m tests.fuzz.files --formats skops` does more of them, in a process that may crash."""
    for name, content in skops_mutants(int(SEED), 200 if ALL else 12):
        code, said = ask(content, tmp_path, numbers=name == "regressor")
        assert code in ALLOWED, said
