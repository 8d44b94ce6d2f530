"""Answers: what people are told, as values, and four ways to show them.

    answer      the value: titled facts, tables, the pair, pictures, next steps; meaning is marked in it, never searched for in text
    sentences   what several answers say: the claim, what rounding does, what was not compared
    texts       numbers, shares and values of features as text
    telling     to whom an answer is told, and how next questions are said: as calls of Python, on the command line as commands
    pair, verdict, disparity, margins, radius, audit, share, regions, comparison, repaired, certificate, card, finding
                one kind of answer each: the only place that words it
    terminal, html, markdown, json
                the renderers, which know no kind of answer
    showing     which answer a result is shown by

Answers are made of results and of the documents that `to_dict` makes of them, so that what a command has printed as JSON can be shown
again. Results show themselves by `result_views`, imported when they are shown.
"""
