"""A device that is none: arrays in main memory that no other library may touch, as those of array-api-strict are."""

from mercer_old.arrays import Home, is_foreign, to_numpy

try:
    import array_api_strict as strict
except ModuleNotFoundError:  # on the lowest versions: numpy follows the array API as well, and forbids nothing
    ELSEWHERE = Home()
else:
    ELSEWHERE = Home(strict, strict.Device("device1"))


def brought_here(model):
    """The model with its fitted arrays in numpy."""
    for name, value in vars(model).items():
        if is_foreign(value):
            setattr(model, name, to_numpy(value))
    return model
