"""A run on a terminal while it happens: the words of the model as they come, then the rest of each step."""

from __future__ import annotations

from typing import TextIO

from agentkit._drivers import Stream
from agentkit._text import hanging, visible
from agentkit.messages import Run, Step, TextDelta
from agentkit.show import end_lines, step_lines

ABOVE = "(the words above)"


class Printer:
    """Prints events. ``out`` is where to; each event is there at once, also when the reader is a pipe."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.headed = 0  # the number of the step whose first line is printed
        self.shown = 0  # the number of the last step that is printed whole
        self.words = ""
        self.is_open = False  # whether the line of words still goes on
        self._held = ""

    def follow(self, stream: Stream) -> Run:
        """Print a stream to its end and return the run."""
        for event in stream:
            if isinstance(event, Step):
                self._step(event)
            elif isinstance(event, TextDelta) and event.text:
                self._words(event.text, self.shown + 1)
        self.pause()
        return stream.run

    def end(self, run: Run) -> None:
        """How the run ended."""
        self._print("\n".join(f"{label}: {text}" for label, text in end_lines(run)) + "\n")

    def pause(self) -> None:
        """End the line of words, because something else comes."""
        if self.is_open:
            self._print("\n")
        self.is_open, self._held = False, ""

    def _words(self, text: str, number: int) -> None:
        if not self.is_open:
            self._head(number)
            self._print("  Words: ")
            self.words, self.is_open = "", True
        self.words += text
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""  # half of a line end may come with the next piece
        # Set in like every other text, so that no line that a model writes can pass for a label.
        self._print(visible(text.removesuffix("\r") if self._held else text).replace("\n", "\n      "))

    def _step(self, step: Step) -> None:
        self.pause()
        self._head(step.number)
        lines = [(label, ABOVE if self._is_above(label, text) else text) for label, text in step_lines(step)]
        self._print("".join(f"{hanging(*line, indent='  ')}\n" for line in lines))
        self.shown, self.words = step.number, ""

    def _is_above(self, label: str, text: str) -> bool:
        """Whether the words that came are this text, so that nobody has to read it twice."""
        words = visible(self.words).strip()
        if not words or not text.strip():
            return False
        if label == "Thought":
            return words.startswith(text.strip())
        return label in ("Answer", "Question") and words.endswith(text.strip())

    def _head(self, number: int) -> None:
        if self.headed != number:
            self._print(f"Step {number}\n")
            self.headed = number

    def _print(self, text: str) -> None:
        print(text, end="", file=self.out, flush=True)
