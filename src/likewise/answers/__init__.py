"""Answers: what people are told, as values, and four ways to show them.

    answer      the value: titled facts, tables, the pair, pictures, next steps; meaning is marked in it, never searched for in text
    sentences   what several answers say: the claim, what rounding does, what was not compared
    texts       numbers, shares and values of features as text
    steps       next questions, as calls of Python; the command line says them as commands
    pair, verdict, disparity, margins, radius, audit, share, regions, comparison, repaired, certificate, card, finding
                one kind of answer each: the only place that words it
    terminal, html, markdown, json
                the renderers, which know no kind of answer

Answers are made of results and of the documents that `to_dict` makes of them, so that what a command has printed as JSON can be shown
again. Results show themselves by what is here, imported when they are shown.
"""
