"""The panels of the inspector, in the order of their tabs, and those of analyses, which are made when first needed."""

from collections.abc import Mapping

from viewers.panels.base import Panel
from viewers.panels.spectrogram import SpectrogramPanel
from viewers.panels.spectrum import SpectrumPanel
from viewers.panels.topography import TopographyPanel

PANELS: tuple[type[Panel], ...] = (TopographyPanel, SpectrumPanel, SpectrogramPanel)

# By kind of analysis, "module:class"; every other kind is shown by ANY_ARRAY.
ANALYSIS_PANELS: Mapping[str, str] = {
    "gates": "viewers.panels.gate_bars:GateBars",
    "gate-interventions": "viewers.panels.interventions:Interventions",
    "lesion": "viewers.panels.lesion:Lesion",
    "relation-mass": "viewers.panels.relation_mass:RelationMass",
    "streams": "viewers.panels.stream_rates:StreamRates",
    "timescales": "viewers.panels.time_constants:TimeConstants",
    "memory": "viewers.panels.bank_recall:BankRecall",
    "stages": "viewers.panels.unit_classes:UnitClasses",
    "experts": "viewers.panels.experts:Experts",
    "group-attribution": "viewers.panels.group_attribution:GroupAttribution",
    "group-interventions": "viewers.panels.interventions:Interventions",
    "gradient-geometry": "viewers.panels.gradient_geometry:GradientGeometry",
    "dynamic-groups": "viewers.panels.dynamic_groups:DynamicGroups",
    "channel-map": "viewers.panels.channel_map:ChannelMap",
    "attention": "viewers.panels.attention_times:AttentionTimes",
    "prediction": "viewers.panels.next_state:NextStatePanel",
    "integrated-gradients": "viewers.panels.attribution:Attribution",
    "occlusion": "viewers.panels.attribution:Occluded",
    "grad-cam": "viewers.panels.attribution:TokenEvidence",
    "sanity-checks": "viewers.panels.sanity_checks:SanityChecks",
    "cka": "viewers.panels.layer_similarity:LayerSimilarity",
    "effective-rank": "viewers.panels.effective_rank:EffectiveRank",
    "embedding": "viewers.panels.embedding:Embedding",
}
ANY_ARRAY = "viewers.panels.array_table:ArrayTable"
