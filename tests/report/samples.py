"""Names and levels that are markup, a model of them, and a region as its `to_dict` makes it."""

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

SEX, JOB = "<script>alert('sex')</script>", 'job "x" & </style>'
LEVELS = ["</script><img src=x onerror=alert(1)>", 'it\'s "quoted"', "\u202eplain"]


def fitted(X, y):
    coded = make_column_transformer((OrdinalEncoder(categories=[LEVELS]), [JOB]), remainder="passthrough")
    return make_pipeline(coded, LogisticRegression(solver="liblinear")).fit(X, y)


def region(kind, rule, box, measure):
    return {"kind": kind, "rule": rule, "box": box, "measure": measure}
