"""The panels of the inspector, in the order of their tabs."""

from viewers.panels.base import Panel
from viewers.panels.spectrogram import SpectrogramPanel
from viewers.panels.spectrum import SpectrumPanel
from viewers.panels.topography import TopographyPanel

PANELS: tuple[type[Panel], ...] = (TopographyPanel, SpectrumPanel, SpectrogramPanel)
