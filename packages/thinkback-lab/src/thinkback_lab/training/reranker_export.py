"""Writes a trained reranker (`reranker.py`) as an ONNX file that onnxruntime runs on any processor.

Inputs are the tokens of one text or a pair, the task, and whether scores are wanted. Outputs are one score of
each task, and the token vectors of two middle layers, each and their mean. Without scores the layers after
these two are not computed.

    scores  = W2 tanh(W1 mean(encoder(tokens)))
    vectors = layer 4, layer 8
    vector  = mean(vectors)

Weights of the encoder are stored in eight bits, with one scale for each output; word vectors in four bits,
with one scale for each 32 numbers. Activations are rounded to eight bits token by token: one scale for all
tokens, as in `DynamicQuantizeLinear`, changes scores by up to 2, because a few activations of this encoder
are large. Four-bit weights (`MatMulNBits`) are half as fast, and unpacking them takes two seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback_lab.errors import LabError

if TYPE_CHECKING:
    import numpy.typing as npt

    Arrays = Mapping[str, npt.NDArray[Any]]

LAYERS, HEADS, WIDTH = 12, 12, 384
VECTOR_LAYERS = (4, 8)  # of which `vectors` and `vector` are made
MAX_POSITIONS = 256
_OPSET, _IR_VERSION = 20, 9
_WORD_ARRAYS = ("words.values", "words.scales")  # in four bits


def export_reranker(weights: Arrays, path: Path) -> None:
    """Write the ONNX file.

    Args:
        weights: What `reranker.pack_weights` returns.
        path: The file to write.

    Raises:
        LabError: The package `onnx` is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise LabError("exporting needs the package onnx: pip install 'thinkback-lab[reranker]'") from error
    graph = _Graph(weights)
    onnx.save(graph.build(), str(path))


def read_weights(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays that `export_reranker` wrote.

    Raises:
        LabError: There is no such file, or it is something else.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        constants = onnx.load(str(path)).graph.initializer
    except (OSError, DecodeError) as error:
        raise LabError(f"{path}: not a network that `train reranker` wrote: {error}") from error
    found = {each.name: onnx.numpy_helper.to_array(each) for each in constants}
    if "words.values" not in found:
        raise LabError(f"{path}: not a network that `train reranker` wrote")
    return found


def mean_weights(networks: Sequence[Arrays]) -> dict[str, npt.NDArray[Any]]:
    """The mean of several networks with the same vocabulary, quantised like each of them.

    What is the same in all of them stays the same to the byte.

    Raises:
        LabError: they have other arrays, or other vocabularies.
    """
    first = networks[0]
    shapes = {name: values.shape for name, values in first.items()}
    if any({name: values.shape for name, values in each.items()} != shapes for each in networks):
        raise LabError("the networks have different layers")
    if any(not np.array_equal(each[name], first[name]) for each in networks for name in _WORD_ARRAYS):
        raise LabError("the networks have different vocabularies")

    def is_same(name: str) -> bool:
        return all(np.array_equal(each[name], first[name]) for each in networks)

    mean = {
        name: values
        if is_same(name)
        else np.mean([each[name] for each in networks], axis=0).astype(values.dtype)
        for name, values in first.items()
    }
    for name in first.keys() - set(_WORD_ARRAYS):
        scales = name.removesuffix(".values") + ".scales"
        if name.endswith(".values") and not (is_same(name) and is_same(scales)):
            exact = [each[name] * each[scales].astype(np.float64) for each in networks]
            mean[name], mean[scales] = quantise_columns(np.mean(exact, axis=0))
    return mean


def quantise_columns(weights: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Weights of shape (inputs, outputs) in eight bits, and the scale of each output."""
    scales = np.maximum(np.abs(weights).max(axis=0), 1e-12) / 127
    return np.round(weights / scales).astype(np.int8), scales.astype(np.float32)


class _Graph:
    """The nodes and constants of the network, in the order in which they are computed."""

    def __init__(self, weights: Arrays) -> None:
        from onnx import TensorProto, helper, numpy_helper

        self._weights = weights
        self._types, self._helper, self._to_tensor = TensorProto, helper, numpy_helper.from_array
        self._nodes: list[Any] = []
        self._count = 0
        self._constants: dict[str, Any] = {}
        self._rounded: dict[str, tuple[str, str]] = {}  # eight-bit activations and their scales, by name

    def build(self) -> Any:
        helper, types = self._helper, self._types
        hidden = self._embed()
        axis, middle = self._ints("first_axis", [0]), []
        for number in range(max(VECTOR_LAYERS)):
            hidden = self._layer(hidden, f"layer.{number}.")
            if number + 1 in VECTOR_LAYERS:
                middle.append(hidden)
        means = [self._node("ReduceMean", each, axis, keepdims=0) for each in middle]
        self._nodes.append(helper.make_node("Concat", middle, ["vectors"], axis=1))
        self._nodes.append(helper.make_node("Concat", means, ["vector"], axis=0))
        self._nodes.append(
            helper.make_node(
                "If",
                ["wants_scores"],
                ["scores"],
                then_branch=self._scores_graph(hidden),
                else_branch=self._no_scores_graph(),
            )
        )
        graph = helper.make_graph(
            self._nodes,
            "reranker",
            [
                helper.make_tensor_value_info("tokens", types.INT64, ["n"]),
                helper.make_tensor_value_info("task", types.INT64, [1]),
                helper.make_tensor_value_info("wants_scores", types.BOOL, []),
            ],
            [
                helper.make_tensor_value_info("scores", types.FLOAT, [2]),
                helper.make_tensor_value_info("vectors", types.FLOAT, ["n", WIDTH * len(VECTOR_LAYERS)]),
                helper.make_tensor_value_info("vector", types.FLOAT, [WIDTH * len(VECTOR_LAYERS)]),
            ],
            list(self._constants.values()),
        )
        opset = helper.make_opsetid("", _OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)

    def _scores_graph(self, hidden: str) -> Any:
        """The layers after the middle ones, and the scores; constants stay in the outer graph."""
        outer, self._nodes = self._nodes, []
        for number in range(max(VECTOR_LAYERS), LAYERS):
            hidden = self._layer(hidden, f"layer.{number}.")
        pooled = self._node("ReduceMean", hidden, "first_axis", keepdims=1)
        dense = self._node("Tanh", self._affine(pooled, "dense"))
        self._node("Squeeze", self._affine(dense, "scores"), "first_axis")
        inner, self._nodes = self._nodes, outer
        return self._branch("scores", inner)

    def _no_scores_graph(self) -> Any:
        zeros = self._to_tensor(np.zeros(2, dtype=np.float32))
        return self._branch("no scores", [self._helper.make_node("Constant", [], ["no_scores"], value=zeros)])

    def _branch(self, name: str, nodes: list[Any]) -> Any:
        result = self._helper.make_tensor_value_info(nodes[-1].output[0], self._types.FLOAT, [2])
        return self._helper.make_graph(nodes, name, [], [result])

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        self._count += 1
        output = f"{operator}.{self._count}"
        self._nodes.append(self._helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def _constant(self, name: str, values: npt.NDArray[Any]) -> str:
        if name not in self._constants:
            self._constants[name] = self._to_tensor(np.ascontiguousarray(values), name)
        return name

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _ints(self, name: str, values: list[int]) -> str:
        return self._constant(name, np.array(values, dtype=np.int64))

    def _float(self, name: str, value: float) -> str:
        return self._constant(name, np.array(value, dtype=np.float32))

    def _embed(self) -> str:
        """Word, position and task vectors, summed and normalised."""
        values = self._node("Gather", self._weight("words.values"), "tokens", axis=0)
        scales = self._node("Gather", self._weight("words.scales"), "tokens", axis=0)
        words = self._unpack(values, scales)
        length = self._node("Shape", "tokens")
        start, axis = self._ints("start", [0]), self._ints("first_axis", [0])
        positions = self._node("Slice", self._weight("positions"), start, length, axis)
        task = self._node("Gather", self._weight("tasks"), "task", axis=0)
        return self._normalise(self._node("Add", self._node("Add", words, positions), task), "embedding.norm")

    def _unpack(self, values: str, scales: str) -> str:
        """Rows of four-bit numbers (rows x blocks x 16 bytes) as floats (rows x width)."""
        low = self._node("BitwiseAnd", values, self._constant("low_bits", np.array(15, dtype=np.uint8)))
        high = self._node(
            "BitShift", values, self._constant("four", np.array(4, dtype=np.uint8)), direction="RIGHT"
        )
        numbers = self._node("Cast", self._node("Concat", low, high, axis=2), to=self._types.FLOAT)
        centred = self._node("Sub", numbers, self._float("eight", 8))
        scales = self._node("Cast", scales, to=self._types.FLOAT)
        scaled = self._node("Mul", centred, self._node("Unsqueeze", scales, self._ints("block_axis", [2])))
        return self._node("Flatten", scaled, axis=1)

    def _layer(self, hidden: str, prefix: str) -> str:
        heads = self._ints("heads", [-1, HEADS, WIDTH // HEADS])
        query, key, value = (
            self._node("Reshape", self._linear(hidden, prefix + name), heads)
            for name in ("query", "key", "value")
        )
        query = self._node("Mul", query, self._float("head_scale", (WIDTH / HEADS) ** -0.5))
        query = self._node("Transpose", query, perm=[1, 0, 2])
        key = self._node("Transpose", key, perm=[1, 2, 0])
        value = self._node("Transpose", value, perm=[1, 0, 2])
        attention = self._node("Softmax", self._node("MatMul", query, key), axis=-1)
        mixed = self._node("Transpose", self._node("MatMul", attention, value), perm=[1, 0, 2])
        mixed = self._linear(self._node("Reshape", mixed, self._ints("rows", [-1, WIDTH])), prefix + "mixed")
        hidden = self._normalise(self._node("Add", hidden, mixed), prefix + "mixed.norm")
        inner = self._node("Gelu", self._linear(hidden, prefix + "inner"))
        outer = self._linear(inner, prefix + "outer")
        return self._normalise(self._node("Add", hidden, outer), prefix + "outer.norm")

    def _linear(self, hidden: str, name: str) -> str:
        """A matrix product in eight bits, with a scale for each token and for each output."""
        inputs, scale = self._round_tokens(hidden)
        product = self._node("MatMulInteger", inputs, self._weight(f"{name}.values"), "middle")
        product = self._node("Cast", product, to=self._types.FLOAT)
        # onnxruntime would fuse a product of both scales as if the first one were a single number
        product = self._node("Mul", self._node("Mul", product, scale), self._weight(f"{name}.scales"))
        return self._node("Add", product, self._weight(f"{name}.bias"))

    def _round_tokens(self, hidden: str) -> tuple[str, str]:
        """Activations as bytes around 128, and the scale of each token."""
        if hidden not in self._rounded:
            largest = self._node(
                "ReduceMax", self._node("Abs", hidden), self._ints("last_axis", [-1]), keepdims=1
            )
            scale = self._node("Mul", largest, self._float("per_step", 1 / 127))
            scale = self._node("Max", scale, self._float("smallest_scale", 1e-9))
            steps = self._node("Round", self._node("Div", hidden, scale))
            shifted = self._node("Add", steps, self._float("middle_value", 128))
            self._constant("middle", np.array(128, dtype=np.uint8))
            self._rounded[hidden] = self._node("Cast", shifted, to=self._types.UINT8), scale
        return self._rounded[hidden]

    def _affine(self, hidden: str, name: str) -> str:
        """A small matrix product in full precision."""
        return self._node(
            "Gemm", hidden, self._weight(f"{name}.weight"), self._weight(f"{name}.bias"), transB=1
        )

    def _normalise(self, hidden: str, name: str) -> str:
        weight, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("LayerNormalization", hidden, weight, bias, epsilon=1e-12, axis=-1)
