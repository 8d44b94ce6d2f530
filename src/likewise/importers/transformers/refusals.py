"""Refusals: transformers that cannot be taken exactly, each with the reason and what would work."""

from __future__ import annotations

from likewise.errors import closest

ROTATES = "adds columns up, so that what it gives depends on several features at once"
WITHOUT = "fit the model on the columns themselves, scaled or encoded one by one"
LINEAR_ON_TOP = (
    f"{WITHOUT}; a linear model on top of it is a linear model of the columns and loses nothing by that"
)
TEXT = "makes columns of words or hashes, and a space has no such features"

REASONS: dict[str, tuple[str, str]] = {
    "Normalizer": (
        "divides a row by its own length, so that every column depends on all features",
        "use StandardScaler or MinMaxScaler, which work column by column",
    ),
    **dict.fromkeys(
        (
            "PCA",
            "IncrementalPCA",
            "TruncatedSVD",
            "FactorAnalysis",
            "FastICA",
            "NMF",
            "MiniBatchNMF",
            "DictionaryLearning",
            "SparsePCA",
            "GaussianRandomProjection",
            "SparseRandomProjection",
            "LinearDiscriminantAnalysis",
            "PLSRegression",
            "FeatureAgglomeration",
        ),
        (ROTATES, LINEAR_ON_TOP),
    ),
    **dict.fromkeys(
        ("KernelPCA", "Nystroem", "RBFSampler", "KernelCenterer", "Isomap", "LocallyLinearEmbedding"),
        ("gives columns that depend on all features at once", "use SVC(kernel='rbf') on the columns themselves"),
    ),
    **dict.fromkeys(
        ("KNNImputer", "IterativeImputer"),
        (
            "fills a gap from the other columns",
            "use SimpleImputer, which fills each column with one number of its own",
        ),
    ),
    **dict.fromkeys(
        ("CountVectorizer", "TfidfVectorizer", "TfidfTransformer", "HashingVectorizer", "FeatureHasher", "DictVectorizer"),
        (TEXT, "declare levels and use OneHotEncoder"),
    ),
    **dict.fromkeys(
        ("KMeans", "MiniBatchKMeans", "Birch", "RandomTreesEmbedding"),
        ("gives columns that depend on all features at once", WITHOUT),
    ),
}  # fmt: skip


def reason(kind: str, library: str, known: list[str]) -> tuple[str, str]:
    """Why a transformer is refused, and what would work."""
    if library == "sklearn" and kind in REASONS:
        return REASONS[kind]
    hint = f"transformers that are taken: {', '.join(known)}"
    if library != "sklearn":
        return f"is code of {library or 'an unknown module'} and cannot be read", hint
    return f"is not known to work on one column at a time{closest(kind, known)}", hint
