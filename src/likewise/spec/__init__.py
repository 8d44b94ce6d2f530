"""The claim in the user's words: features, space, similarity, property, and the file they are kept in.

Nothing here knows of models or searches. What leaves this layer is exact: codes that are doubles,
tolerances and constraint coefficients that are rationals. No module of it loads numpy or a frame library
before a frame is handed over.
"""

from likewise.spec.constraints import Constraint
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Ordinal
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap, parse_property
from likewise.spec.similarity import Relation, Similarity
from likewise.spec.space import Space

__all__ = [
    "Categorical",
    "Constraint",
    "Continuous",
    "Feature",
    "Integer",
    "Ordinal",
    "ProbabilityGap",
    "Property",
    "Relation",
    "SameDecision",
    "ScoreGap",
    "Similarity",
    "Space",
    "parse_property",
]
