"""The model card and the plot of the losses that a LoRA training leaves beside its adapter."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from thinkback_lab.report.charts import Series, line_chart
from thinkback_lab.training.lora import History, LoraSettings

PLOT_FILE, CARD_FILE = "losses.svg", "README.md"


def write_report(folder: Path, base: str, examples: str, settings: LoraSettings, history: History) -> None:
    """Write the plot and the model card into the folder of an adapter."""
    if plot := plot_losses(history):
        (folder / PLOT_FILE).write_text(plot, encoding="utf-8")
    (folder / CARD_FILE).write_text(model_card(base, examples, settings, history), encoding="utf-8")


def plot_losses(history: History) -> str:
    """The losses over the steps as SVG; empty if there are none."""
    named = (("training", history.training), ("held out", history.held_out))
    series = [
        Series(name, tuple((float(step), loss) for step, loss in points), style)
        for style, (name, points) in enumerate(named)
        if points
    ]
    if not series:
        return ""
    top = max(loss for each in series for _, loss in each.points)
    return line_chart(
        series, x_label="step", y_label="loss per token", alt_text="Losses of the training", top=top
    )


def model_card(base: str, examples: str, settings: LoraSettings, history: History) -> str:
    """What was trained on what, how, and with which losses, as Markdown."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in asdict(settings).items())
    losses = "\n".join(f"| {step} | {loss:.4f} |" for step, loss in history.held_out)
    return f"""# LoRA adapter

Base model: {base}. Examples: {examples}. Made by `thinkback-lab train lora`.

The adapter is for this base model only. It reads turns in the line form of thinkback; its replies are
proposals that the guard of thinkback checks. It is not made for chats.

| setting | value |
|---|---|
{rows}

| step | held-out loss |
|---|---|
{losses}
"""
