"""Figures published in the TiM papers and in PerLTQA, as printed there."""

from __future__ import annotations

# TiM table 2: (data set, topic) -> (LLM, memory, retrieval accuracy, response correctness, coherence)
TIM_2: dict[tuple[str, str], tuple[tuple[str, str, str, str, str], ...]] = {
    ("GVD", "Open-EN"): (
        ("ChatGLM", "Silicon", "0.809", "0.438", "0.680"),
        ("ChatGLM", "Ours", "0.820", "0.450", "0.735"),
    ),
    ("GVD", "Open-CN"): (
        ("ChatGLM", "Silicon", "0.840", "0.418", "0.428"),
        ("ChatGLM", "Ours", "0.850", "0.605", "0.665"),
    ),
    ("Kdconv", "Film-CN"): (
        ("ChatGLM", "X", "-", "0.657", "0.923"),
        ("ChatGLM", "Ours", "0.920", "0.827", "0.943"),
        ("Baichuan2", "X", "-", "0.360", "0.413"),
        ("Baichuan2", "Ours", "0.913", "0.743", "0.870"),
    ),
    ("Kdconv", "Music-CN"): (
        ("ChatGLM", "X", "-", "0.666", "0.910"),
        ("ChatGLM", "Ours", "0.970", "0.826", "0.926"),
        ("Baichuan2", "X", "-", "0.253", "0.283"),
        ("Baichuan2", "Ours", "0.900", "0.710", "0.780"),
    ),
    ("Kdconv", "Travel-CN"): (
        ("ChatGLM", "X", "-", "0.735", "0.906"),
        ("ChatGLM", "Ours", "0.940", "0.766", "0.912"),
        ("Baichuan2", "X", "-", "0.207", "0.280"),
        ("Baichuan2", "Ours", "0.833", "0.757", "0.807"),
    ),
    ("RMD", "Medical-CN"): (
        ("ChatGLM", "X", "-", "0.806", "0.893"),
        ("ChatGLM", "Ours", "0.900", "0.843", "0.943"),
        ("Baichuan2", "X", "-", "0.506", "0.538"),
        ("Baichuan2", "Ours", "0.873", "0.538", "0.663"),
    ),
}

# TiM table 3, percent: (task, memory) -> one figure for each model
TIM_3_MODELS = (
    "HuatuoGPT II-13B",
    "Baichuan2 chat-13B",
    "Chatglm2 6B",
    "Chatglm3 6B",
    "GPT3.5 Turbo",
    "GPT4",
)
TIM_3: dict[tuple[str, str], tuple[str, ...]] = {
    ("Diagnosis", "No"): ("18.18", "20.45", "15.91", "2.27", "18.18", "0.0"),
    ("Diagnosis", "Raw"): ("25.00", "20.45", "22.72", "20.45", "22.73", "50.00"),
    ("Diagnosis", "TiM"): ("27.27", "22.27", "22.72", "20.45", "22.73", "50.00"),
    ("Treatment", "No"): ("2.27", "2.27", "0", "2.27", "4.55", "0.0"),
    ("Treatment", "Raw"): ("4.54", "2.27", "0", "9.10", "6.82", "6.82"),
    ("Treatment", "TiM"): ("6.82", "4.54", "2.27", "9.10", "6.82", "6.82"),
}

# TiM table 4 (table 3 of the arXiv version): milliseconds of one retrieval from 140 memories
TIM_4 = (("Baseline", "0.6287"), ("Ours (TiM)", "0.5305"))
TIM_4_MEMORIES = 140

# PerLTQA table 3: model -> MAP, Corr., Coh. in the three settings
PERLTQA_3: dict[str, tuple[str, ...]] = {
    "ChatGLM2": ("0.688", "0.483", "0.963", "0.688", "0.481", "0.962", "0.128", "0.054", "0.960"),
    "ChatGLM3": ("0.704", "0.517", "0.971", "0.695", "0.517", "0.969", "0.130", "0.060", "0.962"),
    "Qwen-7B": ("0.729", "0.535", "0.960", "0.720", "0.532", "0.959", "0.131", "0.057", "0.957"),
    "Baichuan2-7B": ("0.736", "0.535", "0.966", "0.728", "0.522", "0.968", "0.132", "0.051", "0.953"),
    "gpt-3.5-turbo": ("0.756", "0.573", "0.969", "0.745", "0.562", "0.969", "0.156", "0.088", "0.961"),
}

# PerLTQA table 4: classifier -> P, R, F1, Acc (F: few-shot, I: instruction-based training)
PERLTQA_4: dict[str, tuple[str, ...]] = {
    "ChatGLM2-6B": ("0.749", "0.712", "0.729", "0.712"),
    "ChatGLM3-6B": ("0.864", "0.485", "0.538", "0.485"),
    "Qwen-7B": ("0.730", "0.631", "0.673", "0.631"),
    "Baichuan2-7B": ("0.848", "0.602", "0.657", "0.602"),
    "gpt-3.5-turbo": ("0.868", "0.668", "0.715", "0.668"),
    "F+ChatGLM2-6B": ("0.770", "0.806", "0.785", "0.806"),
    "F+ChatGLM3-6B": ("0.778", "0.445", "0.508", "0.445"),
    "F+Qwen-7B": ("0.804", "0.402", "0.452", "0.402"),
    "F+Baichuan2-7B": ("0.860", "0.324", "0.337", "0.324"),
    "F+gpt-3.5-turbo": ("0.864", "0.511", "0.566", "0.511"),
    "I+BERT-base": ("0.720", "0.849", "0.779", "0.849"),
    "BERT-base": ("0.960", "0.956", "0.957", "0.956"),
}

# PerLTQA table 5: retrieval model -> R@1, R@2, R@3, R@5, seconds
PERLTQA_5: dict[str, tuple[str, ...]] = {
    "Contriever": ("0.486", "0.674", "0.737", "0.792", "0.070"),
    "DPR": ("0.602", "0.803", "0.862", "0.919", "2.960"),
    "BM25": ("0.705", "0.847", "0.871", "0.895", "0.030"),
}

# PerLTQA table 6: model -> MAP, Corr. with no, incorrect and correct retrieval
PERLTQA_6: dict[str, tuple[str, ...]] = {
    "Baichuan2-7B": ("0.132", "0.051", "0.396", "0.225", "0.782", "0.581"),
    "Qwen-7B": ("0.131", "0.057", "0.390", "0.221", "0.786", "0.574"),
    "ChatGLM2": ("0.128", "0.054", "0.396", "0.248", "0.738", "0.523"),
    "ChatGLM3": ("0.130", "0.060", "0.365", "0.216", "0.754", "0.561"),
    "ChatGPT": ("0.156", "0.088", "0.375", "0.252", "0.842", "0.609"),
}

# PerLTQA table 7: model -> MAP, Corr., Coh. with semantic memory alone and with episodic memory alone
PERLTQA_7: dict[str, tuple[str, ...]] = {
    "gpt-3.5-turbo": ("0.242", "0.150", "0.834", "0.721", "0.543", "0.966"),
}
