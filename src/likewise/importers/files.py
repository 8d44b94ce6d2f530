"""Models from files: audited first, loaded second, and never run as code unasked.

``.skops``                       the types in the file are listed without constructing any of them; all must
                                 be ones that skops trusts (numpy, scipy, scikit-learn), ones reviewed
                                 here, or ones the user trusts by name
``.onnx``, ``.npz``, ``.keras``, ``.h5``   networks of known operators and layers, read without running
anything (`network_files`)
``.json``, ``.ubj``, ``.txt``    models saved by XGBoost, CatBoost and LightGBM: numbers only, read here with
no need of any library
``.cbm``                         models of CatBoost, which CatBoost itself turns into JSON
``.joblib``, ``.pkl``, ``.pickle``   loading runs whatever the file says, so only where the user allows it

A path goes in, the fitted estimator comes out; everything else is an `UnsupportedModel` that names the
file. Whether the estimator can be verified is for `imported` to say.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.clock import OutOfTime
from likewise.errors import DataError, LikewiseError, UnsupportedModel
from likewise.spec.disk import MODEL_GROWTH, open_file, read_file
from likewise.spec.model_reading import READ_AS_IT_IS, ModelReading

if TYPE_CHECKING:
    from likewise.spec.space import Space

SKOPS = (".skops",)
XGBOOST = (".json", ".ubj")  # CatBoost writes .json as well
CATBOOST = (".cbm",)
LIGHTGBM = (".txt",)
NETWORKS = (".onnx", ".npz", ".keras", ".h5", ".hdf5")  # that know no names of features
PICKLES = (".joblib", ".pkl", ".pickle")

KNOWN_SUFFIXES = (*SKOPS, *XGBOOST, *LIGHTGBM, *CATBOOST, *NETWORKS, *PICKLES)
USUAL_WAYS = (
    "save the model with skops.io.dump(model, 'model.skops'), XGBoost's and LightGBM's with their own "
    "save_model('model.json'), save_model('model.txt'), or export a network as model.onnx"
)
_TORCH = (
    "opening it would run code; export the module with torch.onnx.export(net, rows, 'net.onnx'), or save an nn.Sequential with NumPy: "
    "np.savez('net.npz', layers=[repr(layer) for layer in net], **{k: v.numpy() for k, v in net.state_dict().items()})"
)
OTHER_WAYS = {
    **dict.fromkeys((".pt", ".pth", ".ckpt", ".safetensors"), _TORCH),
    **dict.fromkeys(
        (".pb", ".tflite"), "save the model of Keras with model.save('net.keras'), or export it as net.onnx"
    ),
}


def load_model(
    path: str | Path,
    *,
    allow_pickle: bool = False,
    trust: Collection[str] = (),
    reading: ModelReading = READ_AS_IT_IS,
) -> Any:
    """The fitted estimator in the file at `path`.

    Parameters
    ----------
    path : str or Path
        A ``.skops`` file, a model saved by XGBoost (``.json``, ``.ubj``), LightGBM (``.txt``) or CatBoost
        (``.json``, ``.cbm``), a network (``.onnx``, ``.npz`` of PyTorch, ``.keras``, ``.h5``), or a pickle
        where they are
        allowed.
    allow_pickle : bool
        Whether ``.joblib``, ``.pkl`` and ``.pickle`` files may be opened, which runs code from the file.
    trust : collection of str
        Full names of further types that a ``.skops`` file may construct.
    reading : ModelReading
        Which features are in which columns of the inputs of a network, what its classes are called, and
        whether the weights of an ``.onnx`` file may be in other files beside it.
    """
    file = Path(path)
    check_model_path(file)
    if reading.names_columns and file.suffix.lower() not in NETWORKS:
        raise UnsupportedModel(
            f"{file}: knows its features and labels itself; inputs and labels are for networks in files ({', '.join(NETWORKS)})",
            hint="leave [model.inputs] and labels out of the claim file",
        )
    if file.suffix.lower() in SKOPS:
        model = _load_skops(file, trust)
    elif file.suffix.lower() in (*XGBOOST, *LIGHTGBM, *CATBOOST):
        model = _load_booster(file)
    elif file.suffix.lower() in NETWORKS:
        model = _load_network(file, reading)
    elif allow_pickle:
        model = _load_pickle(file)
    else:
        raise UnsupportedModel(
            f"{file}: is a pickle, and opening one runs whatever code it holds",
            hint="save the model with skops.io.dump(model, 'model.skops'), or pass --allow-pickle "
            "if you trust where the file comes from",
        )
    if not (isinstance(model, type) or hasattr(model, "predict")):
        raise UnsupportedModel(
            f"{file}: holds {_kind_name(model)}, not a fitted model",
            hint="save the estimator itself, the object that fit(X, y) returned",
        )
    return model


@contextmanager
def reading_parts(path: str | Path) -> Iterator[None]:
    """What no reader foresaw of a ``.skops`` file is about the file: a part holds something else than its
    class puts there. What goes wrong behind the readers is not."""
    try:
        yield
    except (LikewiseError, OutOfTime):
        raise
    except Exception as error:
        frames = traceback.walk_tb(error.__traceback__)
        modules = [str(frame.f_globals.get("__name__")) for frame, _ in frames]
        own = [module for module in modules if module.startswith("likewise.")]
        if Path(path).suffix.lower() not in SKOPS or not own[-1].startswith("likewise.importers."):
            raise
        raise UnsupportedModel(
            f"{path}: a part of the model does not hold what its class puts there: {type(error).__name__}: {error}",
            hint="save the model again; if that is what its library saved, report it with what --debug prints",
        ) from error


def is_named_in_code(path: str | Path) -> bool:
    """Whether this names an object of a module, ``package.module:name``, and no file."""
    return re.fullmatch(r"[^\W\d][\w.]*:[^\W\d][\w.]*", str(path)) is not None and not Path(path).exists()


def load_named(path: str) -> Any:
    """The object of that name: a model as it is, any other function as a black box. Importing a module runs
    it, and what it imports, which may lie in the current folder as well but takes no installed module's
    place."""
    from importlib import import_module
    from importlib.machinery import PathFinder

    module, _, name = path.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        top = import_module(module.partition(".")[0])
        own = PathFinder.find_spec(top.__name__, [here])
        if (
            own is not None
            and own.origin
            and not Path(own.origin).samefile(getattr(top, "__file__", None) or "")
        ):
            raise ImportError(f"an installed module is called {top.__name__}, too: rename your file")
        found = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UnsupportedModel(f"{path}: {error}", hint="--model package.module:function") from error
    if callable(getattr(found, "predict", None)) or not callable(found):
        return found
    from likewise.importers.black_box import BlackBox

    return BlackBox(found)


def check_model_path(path: str | Path) -> None:
    """Refuse a path that is no file, or no model file by its name."""
    file = Path(path)
    if not file.exists():
        near = _nearby_models(file)
        raise UnsupportedModel(
            f"{file}: no such model file", hint=f"in that folder: {near}" if near else None
        )
    if file.is_dir():
        raise UnsupportedModel(f"{file}: is a folder, not a model file")
    if file.suffix.lower() not in KNOWN_SUFFIXES:
        raise UnsupportedModel(
            f"{file}: {file.suffix or 'no extension'} is no kind of model file Likewise reads",
            hint=OTHER_WAYS.get(file.suffix.lower(), USUAL_WAYS),
        )


def _nearby_models(file: Path) -> str:
    """The model files that are there instead."""
    try:
        found = sorted(other.name for other in file.parent.iterdir() if other.suffix in KNOWN_SUFFIXES)
    except OSError:
        return ""
    return ", ".join(found[:6])


def _load_skops(file: Path, trust: Collection[str]) -> Any:
    from likewise.importers.skops_files import read_skops

    content = _read_limited(file)
    try:
        return read_skops(content, trust)
    except (DataError, UnsupportedModel) as error:
        raise error.located(str(file)) from error
    except Exception as error:  # whatever a damaged file makes the parser or a constructor raise
        raise _damaged_error(file, error) from error


def _load_booster(file: Path) -> Any:
    from likewise.importers.boosters import saved_lightgbm, saved_xgboost
    from likewise.importers.catboost.model_file import is_catboost
    from likewise.importers.catboost.reading import saved_catboost

    content, kind = _read_limited(file), file.suffix.lower()
    try:
        if kind in CATBOOST or (kind == ".json" and is_catboost(content)):
            return saved_catboost(content, binary=kind in CATBOOST)
        return (saved_lightgbm if kind in LIGHTGBM else saved_xgboost)(content)
    except (DataError, UnsupportedModel) as error:
        raise error.located(str(file)) from error
    except Exception as error:  # what the library itself has to say about a file that was found to be sound
        raise _damaged_error(file, error) from error


def _load_network(file: Path, reading: ModelReading) -> Any:
    from likewise.importers.network_files import load_network

    try:
        return load_network(file, _read_limited(file), reading)
    except (DataError, UnsupportedModel) as error:
        raise error.located(str(file)) from error


def draft_reading(
    path: str | Path, space: Space, labels: Sequence[Any], *, external_data: bool = False
) -> tuple[ModelReading, list[str]]:
    """What a claim file could say about how the network in a file is to be read, `labels` those of the data;
    and what about it is in doubt."""
    from likewise.importers.network_files import draft_network

    file = Path(path)
    try:
        return draft_network(file, _read_limited(file), space, labels, external_data=external_data)
    except (DataError, UnsupportedModel) as error:
        raise error.located(str(file)) from error


def _load_pickle(file: Path) -> Any:
    import joblib

    try:
        with open_file(file) as stream:
            return joblib.load(stream)
    except OSError as error:
        raise _unread_error(file, error) from None
    except Exception as error:  # a pickle can raise anything
        raise _damaged_error(file, error) from error


def _read_limited(file: Path) -> bytes:
    try:
        return read_file(file, growth=MODEL_GROWTH)
    except OSError as error:
        raise _unread_error(file, error) from None


def _unread_error(file: Path, error: OSError) -> UnsupportedModel:
    return UnsupportedModel(f"{file}: cannot be read: {error.strerror or error}")


def _damaged_error(file: Path, error: Exception) -> UnsupportedModel:
    why = " ".join(str(error).split()) or "no reason given"
    return UnsupportedModel(
        f"{file}: cannot be loaded as a model: {type(error).__name__}: {why[:200]}",
        hint="the file is cut off or damaged, was saved by another version of its library, "
        "or needs a library that is not installed",
    )


def _kind_name(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
