"""Chapters of a report: each asks the rooms below one question about a model and its rows, and keeps the answer.

`subject` is what all of them are asked about. Of every chapter there is a record that JSON can say, with no more in it
than a page shows, and a function that makes it, by a stated amount of work: rows that are too many are a sample of a
stated size. A question that has no answer here raises a sentence, which the page shows in its place.
"""
