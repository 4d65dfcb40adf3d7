"""Noisy digits and what becomes of them: figure 16 of the gallery, whose claims must hold."""

from mercer_old.report.gallery import make_entry, scripts


def denoising():
    entry = make_entry(*scripts(only=[16]), themes=["light"])
    assert all(entry.claims.values()), entry.claims
    return entry.pictures["light"]


PICTURES = {"denoising": denoising}
