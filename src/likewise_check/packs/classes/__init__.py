"""The pack `classes`: models of several scores whose head makes more than two classes of them (section 10).

`head` reads what `classes` there are, `scores` bodies of several scores, `cases` divides a proof and says what a leaf of a case has to show, `outcome` decides pairs. `softmax` and `odds` are the rules for
probabilities, on maxima of `forms`.
"""

from likewise_check.packs.classes.forms import LineMaxima
from likewise_check.packs.classes.head import read_classes
from likewise_check.packs.classes.odds import Odds
from likewise_check.packs.classes.scores import read_several
from likewise_check.packs.classes.softmax import Softmax

HEADS = {"classes": read_classes}
SCORES = {"several": read_several}
MAXIMA = {"affine": LineMaxima}
RULES = {"softmax": Softmax, "odds": Odds}
