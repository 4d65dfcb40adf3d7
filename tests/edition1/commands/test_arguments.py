"""Options and what they set: said once, and not lost on the way."""

from dataclasses import fields

import pytest
import typer

from mercer import GPLVM, PCA, Autoencoder, FactorAnalysis, KernelPCA, LocallyLinearEmbedding, ProbabilisticPCA, kernels
from mercer_old.cli import app
from mercer_old.commands.arguments import (
    METHODS,
    OF_KERNELS,
    OPTION_OF,
    PARAMETERS,
    RELATIVES,
    kernel_parameters,
    model_parameters,
)
from mercer_old.errors import WrongUse
from mercer_old.kernel_names import BY_NAME, OF_TEXTS

MODELS = {"kpca": KernelPCA, "pca": PCA, "ppca": ProbabilisticPCA, "lle": LocallyLinearEmbedding}
MODELS |= {"fa": FactorAnalysis, "gplvm": GPLVM, "autoencoder": Autoencoder}
COMMANDS = typer.main.get_command(app).commands


def said(method, *typed):
    """What `mercer fit data …` would give the model of this method."""
    command = COMMANDS["fit"]
    context = command.make_context("fit", ["data.csv", "--method", method, *typed])
    return model_parameters(method, context, METHODS + RELATIVES)


@pytest.mark.parametrize("option", PARAMETERS)
def test_an_option_sets_a_parameter_that_the_model_has(option):
    assert option in {name for parameter in COMMANDS["fit"].params for name in parameter.opts}
    for method, parameter in PARAMETERS[option].items():
        assert parameter in MODELS[method]().get_params() and OPTION_OF[parameter] == option


def test_every_option_arrives_at_its_parameter():
    texts = {"--gamma": "0.5", "--metric": "cosine", "--memory": "2GB"}
    for method in MODELS:
        for option, parameters in PARAMETERS.items():
            if method not in parameters:
                continue
            flag = option in ("--standardize", "--whiten")
            value = texts.get(option, "7")
            [(name, found)] = said(method, option, *([] if flag else [value])).items()
            assert name == parameters[method]
            assert found is True if flag else str(found) in (value, f"{value}.0")


def test_what_is_left_out_is_left_to_the_model_and_zero_is_something_to_say():
    assert all(said(method) == {} for method in MODELS)
    given = said("kpca", "--coef0", "0", "--refine", "0", "--seed", "0", "--gamma", "0")
    assert given == {"coef0": 0.0, "refine": 0, "random_state": 0, "gamma": 0.0}


def test_an_option_of_another_method_is_refused_with_the_methods_it_is_for():
    for method in MODELS:
        for option, parameters in PARAMETERS.items():
            if method not in parameters:
                with pytest.raises(WrongUse, match=f"^{option} is not for --method {method}, but for "):
                    said(method, option, *([] if option in ("--whiten", "--standardize") else ["7"]))


def test_a_method_that_only_a_fit_knows_is_refused_elsewhere_with_a_word_about_it():
    assert set(METHODS + RELATIVES) == set(MODELS)
    for method in RELATIVES:
        context = COMMANDS["components"].make_context("components", ["data.csv", "--method", method])
        with pytest.raises(WrongUse, match=f"--method {method} is for mercer fit; known here are kpca, pca, ppca, lle"):
            model_parameters(method, context)


@pytest.mark.parametrize("name", OF_TEXTS)
def test_every_parameter_of_a_kernel_of_texts_that_has_a_name_is_an_option(name):
    """One line of the table of names is enough for the command line."""
    takes = BY_NAME[name].takes
    assert set(takes) <= {field.name for field in fields(getattr(kernels, BY_NAME[name].kernel))}
    assert set(takes) <= set(OF_KERNELS.values())
    options = {option: parameter for option, parameter in OF_KERNELS.items() if parameter in takes}
    for command in ("fit", "plan"):
        helps = {each.opts[0]: each.help for each in COMMANDS[command].params}
        assert all(name in helps[option] for option in options)


def test_options_of_kernels_arrive_and_others_are_left_out():
    typed = ["data.txt", "--kernel", "spectrum", "--n", "4", "--by", "words", "--normalize", "no"]
    context = COMMANDS["fit"].make_context("fit", typed)
    assert kernel_parameters(context) == {"--n": 4, "--by": "words", "--normalize": False}
    assert set(OF_KERNELS).isdisjoint(PARAMETERS)
