"""How the command line shows a model: its trees, its best rules, its certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bocage.model import AdditiveModel, Forest, Model, Released, Tree, rules, to_rich, to_text

if TYPE_CHECKING:
    from rich.console import Console

MOST_LINES = 60  # of a tree
MOST_RULES = 8


def show_model(screen: Console, model: Released) -> None:
    """Trees, rules and certificate, at a length that can be read."""
    if isinstance(model, AdditiveModel):
        heading(screen, "Tables, the most important first")
        screen.print(to_rich(model))
    else:
        _show_trees(screen, model)
        heading(screen, "Best rules")
        show_best_rules(screen, model)
    heading(screen, "Certificate")
    show_certificate(screen, model)


def _show_trees(screen: Console, model: Tree | Forest) -> None:
    for number, tree in enumerate(trees_of(model), start=1):
        if isinstance(model, Forest):
            heading(screen, f"Tree {number} of {len(model)}")
        else:
            heading(screen, "Tree")
        show_tree(screen, tree)


def heading(screen: Console, title: str) -> None:
    from rich.rule import Rule
    from rich.text import Text

    screen.print()
    screen.print(Rule(Text(title, style="bold"), align="left", style="dim"))


def show_tree(screen: Console, tree: Tree) -> None:
    from rich.text import Text

    if len(tree) <= MOST_LINES:
        screen.print(to_rich(tree))
        return
    for line in to_text(tree).splitlines()[:MOST_LINES]:
        screen.print(Text(line), overflow="ellipsis", no_wrap=True)
    screen.print(Text(f"… {len(tree) - MOST_LINES:,} more nodes", style="dim"))


def show_best_rules(screen: Console, model: Model) -> None:
    """The rules of the leaves with the most records, by released counts."""
    all_rules = rules(model, sub_rules=False).sorted("support")
    shown = type(all_rules)(all_rules.items[:MOST_RULES])
    screen.print(shown)
    if len(all_rules) > len(shown):
        screen.print(f"{len(all_rules) - len(shown):,} more; bocage explain MODEL --rules", style="dim")


def show_certificate(screen: Console, model: Model) -> None:
    from rich.text import Text

    certificate = model.certificate
    style = "bold red" if certificate.epsilon is None else ""
    screen.print(Text(certificate.statement(), style=style))


def show_noise(screen: Console, model: Model) -> None:
    """What noise the batches of a forest left in its counts, and whether to rebuild it."""
    from rich.text import Text

    from bocage.learners import noise_after

    if isinstance(model, Forest) and model.certificate.batches:
        heading(screen, "Noise")
        screen.print(Text(noise_after(model).advice))


def trees_of(model: Tree | Forest) -> tuple[Tree, ...]:
    return model.trees if isinstance(model, Forest) else (model,)


def parts_of(model: Released) -> tuple[Model, ...]:
    """What is written or drawn on its own: each tree of a forest, or the whole model."""
    return model.trees if isinstance(model, Forest) else (model,)
