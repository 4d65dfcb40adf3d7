"""The picture at the head of the README: figure 7 of the gallery, whose claims must hold."""

from mercer_old.report.gallery import make_entry, scripts


def three_clusters():
    entry = make_entry(*scripts(only=[7]), themes=["light"])
    assert all(entry.claims.values()), entry.claims
    return entry.pictures["light"]


PICTURES = {"three_clusters": three_clusters}
