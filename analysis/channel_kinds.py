"""Kinds of channels that a reader scales and filters alike, each by its own settings."""

from __future__ import annotations

from analysis.recording import Channel

EEG, INTRACRANIAL, FIXED = "eeg", "ieeg", "fixed"
# Voltages of brain, heart, eyes and muscle: filtered as the page is, unless the reader says otherwise.
BODY_KINDS = frozenset({EEG, INTRACRANIAL, "ecg", "eog", "emg"})
# What can be given a sensitivity and filters, in the order in which it is listed.
KINDS = (EEG, INTRACRANIAL, "eog", "emg", "ecg", "resp", "other")
KIND_TITLES = {
    EEG: "EEG",
    INTRACRANIAL: "Intracranial EEG",
    "eog": "EOG",
    "emg": "EMG",
    "ecg": "ECG",
    "resp": "Respiration",
    "other": "Other voltages",
}
_OF_TYPE = {"eeg": EEG, "ecog": INTRACRANIAL, "seeg": INTRACRANIAL, "ecg": "ecg", "eog": "eog", "emg": "emg"}


def kind_of(channel: Channel) -> str:
    """One of KINDS, or "fixed" for what is only ever drawn as it is: triggers, SpO2, channels without calibration."""
    if not channel.calibrated:
        return FIXED
    if channel.type == "resp":
        return "resp"
    if channel.unit != "uV":
        return FIXED
    return "other" if channel.type == "misc" else _OF_TYPE.get(channel.type, FIXED)
