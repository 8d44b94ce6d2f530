"""Families: everything that one kind of model needs, a room each: body, exact evaluation, oracle, judge of many rows."""
