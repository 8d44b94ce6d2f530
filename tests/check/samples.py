"""One valid certificate of each sort, small enough that brute force knows the truth."""

from tests.check.builder import (
    FREE,
    SAME,
    affine,
    between,
    categorical,
    constraint,
    continuous,
    decision,
    integer,
    line,
    ordinal,
    pairs,
    pieces,
    probability,
    proof,
    score,
    table,
    within,
    witness,
    worth,
)
from tests.check.ensembles import missing, rounding, trees
from tests.check.kernels import sloped, tabled
from tests.check.polynomials import polynomial

AGE = integer("age", 0, 3)
SEX = categorical("sex", ["f", "m"])
RANK = ordinal("rank", ["low", "mid", "high"])
PAID = ordinal("paid", [False, True, worth("5/2")])
INCOME = continuous("income", 0, 4)


def gap() -> list:
    """A decision that is fair because 5 * age jumps over the threshold."""
    model = affine("-5/2", [line(0, 5), table(1, 1, [0, 1])])
    nodes = [["split", 0, "0"], ["separable", "1"], ["separable", "0"]]
    return proof([AGE, SEX], [SAME, FREE], decision(0), model, nodes, clearance="3/2", covers=True)


def upper() -> list:
    """The same where zero belongs to the upper label, with a margin."""
    model = affine("-5/2", [line(0, 5), table(1, 1, [0, 1])], zero="upper")
    nodes = [["split", 0, "0"], ["separable", "1/2"], ["separable", "1"]]
    nodes[1] = ["separable", "0"]
    return proof([AGE, SEX], [SAME, FREE], decision("1/2"), model, nodes, clearance="1", covers=True)


def regression() -> list:
    """A score gap, tight: clearance 0."""
    model = affine(0, [line(0, 5), table(1, 1, [0, 1])], labels=None, link=None)
    return proof([AGE, SEX], [SAME, FREE], score(1), model, [["separable", "1/2"]])


def constrained() -> list:
    """A score gap that holds only thanks to constraints, used by multipliers, and an empty cell."""
    model = affine(0, [line(0, 1), table(1, 1, [0, 1, "5/2"])])
    limits = [constraint([(0, 1), (1, 2)], 5, text="age + 2 paid <= 5"), constraint([(1, -1)], 0)]
    nodes = [
        ["split", 1, "1"],
        ["separable", "1/2", ["1/4", "0", "0", "1/4"]],
        ["split", 0, "0"],
        ["separable", "1/2"],
        ["empty", ["1", "0", "0", "0"]],
    ]
    return proof([AGE, PAID], [SAME, FREE], score("5/2"), model, nodes, constraints=limits)


def near() -> list:
    """`within` on a continuous, an integer and an ordinal feature."""
    model = affine("1/3", [line(0, 1), line(1, 2), table(2, 1, [0, 3, 4])])
    relations = [within("1/2"), within(1), within(1)]
    return proof(
        [INCOME, AGE, RANK], relations, score("11/2"), model, [["split", 0, "2"], *[["separable", "1/2"]] * 2]
    )


def likely() -> list:
    """Probabilities, by a tangent; delta leaves room."""
    model = affine("-5/2", [line(0, 1), table(1, 1, [0, 1])])
    nodes = [["separable", "3/8"]]
    return proof([AGE, SEX], [SAME, FREE], probability("1/4"), model, nodes, clearance="1/100")


def listed() -> list:
    """Every point looked at, and a probability."""
    model = affine("-5/2", [line(0, 1), table(1, 1, [0, 1])])
    nodes = [["split", 0, "1"], ["enumerated"], ["separable", "3/8"]]
    return proof([AGE, SEX], [SAME, FREE], probability("1/4"), model, nodes, clearance="0x1p-9")


def masked() -> list:
    """The score does not look at what may differ."""
    model = affine("-5/2", [line(0, 1), table(1, 0, [0, 1])])
    return proof([AGE, SEX], [SAME, FREE], decision(0), model, [["independent"]])


def rising() -> list:
    """Whoever has more of both loses at most 1/2: ordered pairs of numbers and of steps."""
    features = [integer("age", 0, 3), ordinal("rank", ["a", "b", "c"]), continuous("rest", 0, 1)]
    relations = [between(1, 3), between(0, 1), SAME]
    model = affine(0, [line(0, 1), table(1, 1, [0, "-1/2", -2]), line(2, 1)], labels=None, link=None)
    return proof(features, relations, score("1/2"), model, [["separable", "1/2"]])


def fallen() -> list:
    """The same with too small a gap."""
    features = [integer("age", 0, 3), ordinal("rank", ["a", "b", "c"]), continuous("rest", 0, 1)]
    relations = [between(1, 3), between(0, 1), SAME]
    model = affine(0, [line(0, 1), table(1, 1, [0, "-1/2", -2]), line(2, 1)], labels=None, link=None)
    return witness(features, relations, score("1/4"), model, [0, 1, 0], [1, 2, 0], ["-1/2", -1])


def refuted() -> list:
    """A witness against a decision."""
    model = affine("-1/2", [line(0, 5), table(1, 1, [0, 1])])
    return witness([AGE, SEX], [SAME, FREE], decision(0), model, [0, 1], [0, 0], ["1/2", "-1/2"])


def unlikely() -> list:
    """A witness against a probability gap, with a constraint and a continuous feature."""
    model = affine("-1/2", [line(0, "0x1.8p+0"), table(1, 1, [0, 1])])
    limits = [constraint([(0, 1)], 2)]
    return witness(
        [INCOME, SEX],
        [within("1/4"), FREE],
        probability("1/5"),
        model,
        ["1/4", 1],
        ["0", 0],
        ["7/8", "-1/2"],
        constraints=limits,
    )


CURVED = [sloped(0), tabled(1, [0, 1])]


def curved() -> list:
    """A product of what agrees and what may differ; codes, a constraint and squares are used."""
    model = polynomial(CURVED, [("-1", [0, 0]), ("1/2", [0, 1]), ("1/4", [])])
    nodes = [
        ["split", 0, "0"],
        ["polynomial", "1", [0, 0]],
        ["split", 1, "0"],
        ["sos", ["7/8", "1/8", "0"], 2, [[[[0, 0]], 1, [[0, 1]]], [[-1, 2], 1, []]]],
        ["polynomial", "1", [0, 0]],
    ]
    return proof([AGE, SEX], [SAME, FREE], decision("1/4"), model, nodes)


def kept() -> list:
    """A square of a difference, split; a constraint as a factor."""
    model = polynomial([sloped(0)], [("1", [0, 0])])
    limits = [constraint([(0, 1)], 2)]
    nodes = [["split", 2, "0"], ["sos", "1/2", 1, [[[[-1, 0]], 1, []]]], ["polynomial", "1/2", [1, -1]]]
    return proof([INCOME], [within("1/2")], score("5"), model, nodes, constraints=limits)


def bent() -> list:
    """A witness against a polynomial score."""
    model = polynomial(CURVED, [("-1", [0, 0]), ("5/2", [0, 1]), ("1/4", [])])
    return witness([AGE, SEX], [SAME, FREE], decision(0), model, [1, 1], [1, 0], ["7/4", "-3/4"])


HOME = categorical("home", ["own", None, "rent"])


def stepped() -> list:
    """Pieces, a split between two doubles, allowed pairs and an implication by arrays."""
    model = affine(
        "-3/2", [pieces(0, 1, [1, "5/2"], [[0], [2, 0, "1/8"], [4, "-1/4"]]), table(1, 1, [2, 1, "-1/2"])]
    )
    limits = [constraint([(1, [1, 0, 0]), (2, [0, 1])], 1, text="own: f")]
    nodes = [
        ["split", 0, "1", "0x1.0000000000001p+0"],
        ["separable", "1/2"],
        ["separable", "1/2", ["1/8", "0"]],
    ]
    return proof(
        [INCOME, HOME, SEX], [SAME, pairs([0, 1]), SAME], score("5/4"), model, nodes, constraints=limits
    )


def adjusted() -> list:
    """Probabilities of a score in pieces within a tolerance, by a link with a slope."""
    column = pieces(0, 1, [1], [[0, 1], ["1/2", 0, "1/4"]])
    model = affine("-1", [column], link=["logistic", "-1/2", "1/4"])
    nodes = [["split", 0, "1"], ["separable", "3/8"], ["enumerated"]]
    return proof([AGE], [within(1)], probability("1/4"), model, nodes, clearance="1/1000")


def jumped() -> list:
    """A witness on both sides of a cut, and a level that is missing."""
    model = affine("-1/2", [pieces(0, 1, [1], [[0], [1]]), table(1, 1, [0, 0, "1/4"])])
    return witness(
        [INCOME, HOME],
        [within("1/4"), pairs([1, 2])],
        decision(0),
        model,
        ["0x1.0000000000001p+0", 1],
        [1, 2],
        ["1/2", "-1/4"],
        constraints=[constraint([(1, [1, 0, 0])], 0)],
    )


def combined(how, *models, weights=None) -> dict:
    """The model whose score is made of those of others."""
    more = {} if weights is None else {"weights": list(weights)}
    body = {"kind": "combined", "how": how, **more, "of": [model["body"] for model in models]}
    return {**models[0], "body": body, "rounding": None}


def averaged() -> list:
    """The mean of an affine score and of a polynomial, neither of which looks at sex."""
    model = combined(
        "mean",
        affine("-1", [line(0, "1/2"), table(1, 1, ["1/3", "1/3"])]),
        polynomial([sloped(0), tabled(1, [2, 2])], [("1/2", [0, 0]), (-1, [0, 1])]),
        weights=["1/4", "3/4"],
    )
    return proof([AGE, SEX], [SAME, FREE], decision(), model, [["independent"]])


def largest() -> list:
    """The largest of two scores, which differs by less than each of them."""
    model = combined(
        "max", affine(0, [table(0, 1, [0, 2]), line(1, 1)]), polynomial([tabled(0, [1, -1])], [(2, [0])])
    )
    nodes = [["split", 0, "0"], ["enumerated"], ["enumerated"]]
    return proof([SEX, AGE], [FREE, SAME], score(3), model, nodes)


def smaller() -> list:
    """A witness against the smallest of two scores."""
    model = combined("min", affine("1/2", [line(0, -1)]), affine(1, [table(1, 1, [0, "1/2"])]))
    return witness([AGE, SEX], [within(1), SAME], decision(), model, [0, 0], [1, 0], ["1/2", "-1/2"])


def grown() -> list:
    """Trees, whose decision is that of the income alone, which may be missing."""
    model = trees(
        "1/4",
        [[[0, "1", 2, "right"], "-2", "3"], [[1, [0], 2], "1/2", "-1/2"]],
        rounding=rounding("15/4", 3, 24),
    )
    nodes = [["split", 0, "1", "0x1.0000000000001p+0"], ["trees", "1"], ["trees", "0"]]
    return proof(
        [missing(INCOME), SEX], [SAME, FREE], decision(0), model, nodes, clearance="5/4", covers=True
    )


def branched() -> list:
    """A gap of scores of trees, with all rules that they know but one."""
    model = trees(0, [[[0, "3/2", 2, "left"], "0", "2"], [[1, [0, 2], 2], "1", "0"]])
    nodes = [
        ["split", 2, "1"],
        ["split", 0, "2"],
        ["trees", "1/2"],
        ["enumerated"],
        ["empty", ["1", "0"]],
    ]
    return proof(
        [missing(AGE), RANK],
        [within(1), pairs([0, 1])],
        score("13/4"),
        model,
        nodes,
        constraints=[constraint([(1, [0, 0, 1])], 0)],
        clearance="1/8",
    )


def felled() -> list:
    """A witness against trees: one age is missing."""
    model = trees("-1/2", [[[0, "1", 2, "left"], "1", [1, [1], 4], "0", "1/4"]], zero="upper")
    return witness([missing(AGE), SEX], [FREE, SAME], decision("1/4"), model, [2, 1], [4, 1], ["-1/2", "1/2"])


def added(bias, *parts) -> dict:
    """The model whose score adds up those of others: weight, link and model each."""
    items = [{"weight": weight, "link": link, "body": model["body"]} for weight, link, model in parts]
    head = {"labels": ["no", "yes"], "zero": "lower", "link": None}
    return {
        "family": "test",
        "body": {"kind": "sum", "bias": bias, "parts": items},
        "head": head,
        "rounding": None,
    }


VOTE = ["table", [["0", "0", "0", "1"]]]


def summed() -> list:
    """A score, the probability of another and the vote of a third: each differs by little enough for all together."""
    model = added(
        "-1",
        ("1", None, affine(0, [line(0, "1/2")])),
        ("2", ["logistic", "1", "0"], affine(0, [table(1, 1, [0, "1/2"])])),
        ("1", VOTE, trees(0, [[[1, [0], 2], "-1", "1"]])),
    )
    low, high = ["0", "separable"], ["1/2", "separable"]
    parts = [
        [None, None, [["0", "separable"]]],
        [[low, high, "1/4", "0"], [low, high, "1/5", "0"], [["5/18", "separable"]]],
        [[["1", "trees"], None, "0", "0"], [None, ["1", "trees"], "0", "0"], []],
    ]
    return proof([AGE, SEX], [SAME, FREE], score("3/2"), model, [["sum", "1/2", parts]])


def balanced() -> list:
    """Two parts that weigh against each other: a table with a slope, at one age a line of both individuals, at others of one of them."""
    ramp = ["table", [["0", "0", "0", "0"], ["2", "1", "1", "3/2"]]]
    model = added(
        "-1/4",
        ("-1", ramp, affine(0, [line(0, 1), table(1, "1/2", [0, 1])])),
        ("1/2", None, affine(0, [table(1, 1, [0, "1/2"])])),
    )
    first = [
        [[["0", "separable"], ["1", "separable"], "1/4", "0"], None, [["0", "separable"]]],
        [None, None, [["1/2", "separable"]]],
    ]
    nodes = [["split", 0, "0"], ["sum", "1", first], ["enumerated"]]
    return proof([AGE, SEX], [SAME, FREE], decision(0), model, nodes)


def outvoted() -> list:
    """A witness against a vote."""
    model = added("-3/4", ("1", VOTE, affine("-1/2", [table(1, 1, [0, 1])])))
    return witness([AGE, SEX], [SAME, FREE], decision(), model, [0, 1], [0, 0], ["1/4", "-3/4"])


def differing() -> list:
    """Parts by their differences: a probability, one that counts against, with and without limits, and a table with a jump."""
    ramp = ["table", [["0", "0", "0", "1/4"], ["2", "1", "1", "1"]]]
    model = added(
        "0",
        ("1", ["logistic", "2", "-1"], affine(0, [line(0, 1), table(1, 1, [0, "1/4"])])),
        ("-1", ["logistic", "1", "0"], affine("1/2", [line(0, 1), table(1, 1, [0, "-1/2"])])),
        ("1/2", ramp, affine("-3/4", [line(0, 1), table(1, 1, [0, "1/8"])])),
    )
    none = [None, None]
    nodes = [
        ["split", 0, "1"],
        [
            "sum",
            "1/2",
            [
                ["difference", ["1/8", "separable"], none, none, "-1/4"],
                ["difference", ["1/4", "separable"], [["0", "separable"], None], none, "0"],
                ["difference", ["1/16", "separable"], none, none, "0"],
            ],
        ],
        [
            "sum",
            "1/2",
            [
                ["difference", ["1/8", "separable"], none, [["-2", "separable"], None], "3"],
                ["difference", ["1/4", "separable"], [["-2", "separable"], None], none, "2"],
                [
                    "difference",
                    ["1/16", "separable"],
                    none,
                    [["-5/4", "separable"], ["19/8", "separable"]],
                    "0",
                ],
            ],
        ],
    ]
    return proof([AGE, SEX], [SAME, FREE], score("13/32"), model, nodes)


def exchanged() -> list:
    """Women's scores are lower, and the pair is looked at the other way round: the difference is below 0, and so is what it comes to."""
    model = added("1", ("3", ["logistic", "1", "1"], affine(0, [line(0, "-1"), table(1, 1, [0, 1])])))
    limits = [["3", "separable"], ["1", "separable"]]
    near = ["sum", "1/2", [["difference", ["1/2", "separable"], [None, None], [None, None], "-1/2"]]]
    nodes = [
        ["split", 1, "0"],
        ["split", 2, "0"],
        ["sum", "1/2", [["difference", ["0", "separable"], [None, None], [None, None], "0"]]],
        ["sum", "1/2", [["difference", ["-1/2", "separable"], limits, [None, None], "0"]]],
        near,
    ]
    return proof([AGE, SEX], [SAME, FREE], score("3/4"), model, nodes)


def chained() -> list:
    """Calibrations of probabilities, a logistic one and a table that counts against: by their differences where people are young, by lines where they are older."""
    calibrated = ["chain", ["logistic", "1", "-1"], ["logistic", "4", "-2"]]
    steps = ["chain", ["logistic", "1", "-2"], ["table", [["1/4", "0", "0", "0"], ["3/4", "1", "1", "1"]]]]
    model = added(
        "0",
        ("1", calibrated, affine(0, [line(0, 1), table(1, 1, [0, "1/4"])])),
        ("-1/2", steps, affine("1/2", [line(0, 1), table(1, 1, [0, "-1/2"])])),
    )
    none, cuts = [None, None], ["-1", "0", "1/2", "1", "3/2", "2", "5/2"]
    sides = [
        [["-2", "separable"], ["13/4", "separable"], ["3/20", "7/40"], ["3/2", "5/4"]],
        [["-2", "separable"], ["13/4", "separable"], ["9/64", "11/64"], ["0", "0"]],
    ]
    limited = [["-2", "separable"], ["7/2", "separable"]]
    nodes = [
        ["split", 0, "1"],
        [
            "sum",
            "1/2",
            [
                ["difference", ["1/8", "separable"], none, none, cuts],
                ["difference", ["1/4", "separable"], [["0", "separable"], None], none, cuts],
            ],
        ],
        [
            "sum",
            "1/2",
            [
                [*sides, [["17/64", "separable"]]],
                ["difference", ["1/4", "separable"], limited, limited, cuts],
            ],
        ],
    ]
    return proof([AGE, SEX], [SAME, FREE], score("23/100"), model, nodes)


def nested(outer: dict, *inner: dict) -> dict:
    """The model of a function of other models' scores."""
    body = {"kind": "nested", "inner": [one["body"] for one in inner], "outer": outer}
    head = {"labels": None, "zero": "lower", "link": None}
    return {"family": "test", "body": body, "head": head, "rounding": None}


def limits(by: str, *thresholds: str) -> list:
    """Lines of an inner score, all by one rule."""
    return [[threshold, by] for threshold in thresholds]


def _oblique() -> dict:
    """Two tests, each of age and sex together."""
    outer = trees(0, [[[0, "3/2", 2], "0", "1"], [[1, "-1", 2], "1", "0"]])["body"]
    return nested(
        outer,
        affine(0, [line(0, 1), table(1, "1/2", [0, 1])]),
        affine(0, [line(0, "-1"), table(1, 1, [0, 1])]),
    )


def oblique() -> list:
    """Trees of sums: cut by one of the sums, and by age, which leaves nobody in one cell."""
    wide = limits("separable", "3", "1", "3", "1", "1/2", "1/2")
    nodes = [
        ["inner", 0, 0, "3/2"],
        ["nested", "1/2", [limits("separable", "0", "7/2", "0", "7/2", "1/4", "1/4"), wide]],
        ["split", 0, "1"],
        ["nested", "1/2", [limits("separable", "0", "3/2", "0", "3/2", "1/4", "1/4"), wide]],
        [
            "nested",
            "1/2",
            [
                limits("separable", "-2", "7/2", "-2", "7/2", "1/4", "1/4"),
                limits("separable", "3", "-1", "3", "-1", "1/2", "1/2"),
            ],
        ],
    ]
    return proof([AGE, SEX], [SAME, FREE], score(1), _oblique(), nodes)


def missed() -> list:
    """A witness against trees of sums."""
    return witness([AGE, SEX], [SAME, FREE], score("1/2"), _oblique(), [1, 0], [1, 1], ["1", "0"])


def halfway() -> list:
    """1 less the median of age, of something of sex, and of a tree."""
    outer = {"kind": "median", "weights": ["1", "2/3", "1"], "slope": "-1", "offset": "1"}
    model = nested(
        outer,
        affine(0, [line(0, 1)]),
        affine(0, [table(1, 2, [0, 1])]),
        trees(0, [[[0, "1", 2], "0", "2"]]),
    )
    young = [
        limits("separable", "0", "1", "0", "1", "0", "0"),
        limits("separable", "0", "2", "0", "2", "1", "1"),
        [*limits("trees", "0", "0", "0", "0"), None, ["0", "trees"]],
    ]
    old = [
        limits("separable", "-2", "3", "-2", "3", "0", "0"),
        limits("separable", "0", "2", "0", "2", "1", "1"),
        limits("trees", "-2", "2", "-2", "2", "0", "0"),
    ]
    nodes = [["split", 0, "1"], ["nested", "1/2", young], ["nested", "1/2", old]]
    return proof([AGE, SEX], [SAME, FREE], score(1), model, nodes)


PROOFS = [
    gap,
    rising,
    upper,
    regression,
    constrained,
    near,
    likely,
    listed,
    masked,
    curved,
    kept,
    stepped,
    adjusted,
    averaged,
    grown,
]
WITNESSES = [refuted, fallen, unlikely, bent, jumped, smaller, felled]
SUMS = [summed, balanced, outvoted, differing, exchanged, chained]
NESTED = [oblique, missed, halfway]
