#!/usr/bin/env python3
"""Makes the models of this folder: small networks with random weights, as today's exporters write them.

usage: make.py [NAME...]

Needs the packages of requirements.txt. The files are kept in the tree, so tests need none of them.
"""
import os
import sys
import tempfile
import warnings

import onnx
import torch
import transformers
from onnx import helper
from torch import nn

warnings.filterwarnings("ignore")
FOLDER = os.path.dirname(os.path.abspath(__file__))
DYNAMIC = torch.export.Dim.DYNAMIC
LARGEST = 200_000  # bytes
SIZES = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
         "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
LAYERS, KEY_HEADS, HEAD_SIZE = 2, 2, 4


def save(model, name):
    """Saves without what names the machine that it was made on: stack traces and the like."""
    for holder in [model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output,
                   *model.graph.initializer]:
        if hasattr(holder, "metadata_props"):
            del holder.metadata_props[:]
        holder.doc_string = ""
    del model.metadata_props[:]
    path = os.path.join(FOLDER, name + ".onnx")
    onnx.save(model, path)
    size = os.path.getsize(path)
    assert size < LARGEST, f"{name}: {size} bytes"
    print(name, size)


def export(network, inputs, name, input_names, output_names, dimensions, dynamo):
    """`dimensions`: of dynamic axes, {input or output: {axis: name}}."""
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = os.path.join(folder, "model.onnx")
        if dynamo:
            shapes = [{axis: DYNAMIC for axis in dimensions.get(each, {})} for each in input_names]
            count = len(inputs) - 1 if isinstance(inputs[-1], list) else len(inputs)
            shapes = shapes[:count] + ([shapes[count:]] if count < len(inputs) else [])
            torch.onnx.export(network, inputs, path, dynamo=True, dynamic_shapes=tuple(shapes), verbose=False,
                              input_names=input_names, output_names=output_names, external_data=False)
        else:
            torch.onnx.export(network, inputs, path, dynamo=False, dynamic_axes=dimensions, opset_version=17,
                              input_names=input_names, output_names=output_names)
        save(onnx.load(path), name)


class Decoder(nn.Module):
    """A language model that takes its cache as a list of tensors: key and value of each layer."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, position_ids, past):
        cache = transformers.DynamicCache()
        for i in range(LAYERS):
            cache.update(past[2 * i], past[2 * i + 1], i)
        result = self.model(input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids,
                            past_key_values=cache, use_cache=True)
        return result.logits, [each for layer in result.past_key_values.layers for each in (layer.keys, layer.values)]


def make_decoder(name, model, heads, dynamo):
    model.config._attn_implementation = "eager"
    ids = torch.randint(0, SIZES["vocab_size"], (2, 3))
    past = [torch.randn(2, heads, 4, HEAD_SIZE) for _ in range(2 * LAYERS)]
    kinds = [f"{i}.{kind}" for i in range(LAYERS) for kind in ("key", "value")]
    names = ["input_ids", "attention_mask", "position_ids"] + [f"past_key_values.{kind}" for kind in kinds]
    outputs = ["logits"] + [f"present.{kind}" for kind in kinds]
    total = "past_sequence_length + sequence_length"
    dimensions = {each: {0: "batch_size", 1: "sequence_length"} for each in names[:3] + outputs[:1]}
    dimensions["attention_mask"] = {0: "batch_size", 1: total}
    dimensions.update({each: {0: "batch_size", 2: "past_sequence_length"} for each in names[3:]})
    dimensions.update({each: {0: "batch_size", 2: total} for each in outputs[1:]})
    inputs = (ids, torch.ones(2, 7, dtype=torch.int64), torch.arange(4, 7).repeat(2, 1), past)
    export(Decoder(model.eval()), inputs, name, names, outputs, dimensions, dynamo)


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)).eval()


def decoder_dynamo():
    make_decoder("decoder_dynamo", llama(), KEY_HEADS, True)


def decoder_legacy():
    make_decoder("decoder_legacy", llama(), KEY_HEADS, False)


def gpt2_legacy():
    config = transformers.GPT2Config(vocab_size=40, n_positions=64, n_embd=16, n_layer=2, n_head=4)
    make_decoder("gpt2_legacy", transformers.GPT2LMHeadModel(config), 4, False)


def genai_int4():
    """Written by onnxruntime-genai's builder, with GroupQueryAttention and MatMulNBits."""
    from onnxruntime_genai.models.builder import create_model, parse_extra_options
    from tokenizers import Tokenizer, models

    config = dict(SIZES, hidden_size=64, intermediate_size=32)  # GroupQueryAttention wants heads of 16
    with tempfile.TemporaryDirectory() as folder:
        source, target, cache = (os.path.join(folder, each) for each in ("source", "target", "cache"))
        transformers.LlamaForCausalLM(transformers.LlamaConfig(**config)).save_pretrained(source)
        words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(40)}, unk_token="w0"))
        transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="w0").save_pretrained(source)
        transformers.GenerationConfig(bos_token_id=1, eos_token_id=2, max_length=32).save_pretrained(source)
        options = parse_extra_options(None, source, target, "int4", "cpu", cache, [])
        create_model(None, source, target, "int4", "cpu", cache, **options)
        save(onnx.load(os.path.join(target, "model.onnx")), "genai_int4")


class CrossDecoder(nn.Module):
    """The decoder of T5, with the caches of its own tokens and of the encoder's."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, encoder_attention_mask, encoder_hidden_states, past):
        cache = transformers.EncoderDecoderCache(transformers.DynamicCache(), transformers.DynamicCache())
        for i in range(LAYERS):
            cache.self_attention_cache.update(past[4 * i], past[4 * i + 1], i)
            cache.cross_attention_cache.update(past[4 * i + 2], past[4 * i + 3], i)
            cache.is_updated[i] = True
        result = self.model.decoder(input_ids=input_ids, encoder_hidden_states=encoder_hidden_states,
                                    encoder_attention_mask=encoder_attention_mask, past_key_values=cache,
                                    use_cache=True)
        own = result.past_key_values.self_attention_cache.layers
        return self.model.lm_head(result.last_hidden_state), [each for layer in own
                                                              for each in (layer.keys, layer.values)]


def t5_decoder():
    config = transformers.T5Config(vocab_size=40, d_model=16, d_kv=4, d_ff=24, num_layers=LAYERS, num_heads=4)
    network = CrossDecoder(transformers.T5ForConditionalGeneration(config).eval()).eval()
    kinds = [f"{i}.{side}.{kind}" for i in range(LAYERS) for side in ("decoder", "encoder")
             for kind in ("key", "value")]
    names = ["input_ids", "encoder_attention_mask", "encoder_hidden_states"] + [f"past_key_values.{k}" for k in kinds]
    outputs = ["logits"] + [f"present.{kind}" for kind in kinds if "decoder" in kind]
    past = [torch.randn(2, 4, 4 if "decoder" in kind else 6, 4) for kind in kinds]
    inputs = (torch.randint(0, 40, (2, 1)), torch.ones(2, 6, dtype=torch.int64), torch.randn(2, 6, 16), past)
    dimensions = {"input_ids": {0: "batch_size"}}
    dimensions.update({each: {0: "batch_size", 1: "encoder_sequence_length"} for each in names[1:3]})
    for each in names[3:]:
        dimensions[each] = {0: "batch_size", 2: "past_decoder_sequence_length" if "decoder" in each
                            else "encoder_sequence_length_out"}
    dimensions.update({each: {0: "batch_size", 2: "past_decoder_sequence_length + 1"} for each in outputs[1:]})
    export(network, inputs, "t5_decoder", names, outputs, dimensions, False)


class Experts(nn.Module):
    """Two of four experts for each token, chosen by a router."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.router = nn.Linear(16, 4)
        self.up = nn.Parameter(torch.randn(4, 16, 24) / 4)
        self.down = nn.Parameter(torch.randn(4, 24, 16) / 5)
        self.head = nn.Linear(16, 40)

    def forward(self, input_ids):
        hidden = self.words(input_ids)
        weights, chosen = torch.topk(torch.softmax(self.router(hidden), -1), 2)
        weights = weights / weights.sum(-1, keepdim=True)
        gates = torch.zeros(*hidden.shape[:2], 4).scatter(2, chosen, weights)
        each = torch.einsum("bsh,ehf->bsef", hidden, self.up)
        each = torch.einsum("bsef,efh->bseh", nn.functional.silu(each), self.down)
        return self.head(hidden + (each * gates[..., None]).sum(2))


def experts():
    export(Experts().eval(), (torch.randint(0, 40, (2, 5)),), "experts", ["input_ids"], ["logits"],
           {"input_ids": {0: "batch", 1: "sequence"}}, True)


def mamba():
    """The scan over the sequence is unrolled by the exporter: the model accepts five tokens only."""
    config = transformers.MambaConfig(vocab_size=40, hidden_size=16, state_size=4, num_hidden_layers=1,
                                      time_step_rank=4, use_cache=False)
    model = transformers.MambaForCausalLM(config).eval()

    class Logits(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids):
            return self.model(input_ids=input_ids, use_cache=False).logits

    export(Logits().eval(), (torch.randint(0, 40, (2, 5)),), "mamba", ["input_ids"], ["logits"],
           {"input_ids": {0: "batch", 1: "sequence"}}, False)


class Diffusion(nn.Module):
    """A block of a diffusion network: down, attention to a text, up again with a skip connection."""

    def __init__(self):
        super().__init__()

        def convolution(inputs, outputs, stride=1):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1), nn.SiLU())

        self.first, self.down = convolution(4, 8), convolution(8, 16, 2)
        self.up, self.last = convolution(24, 8), nn.Conv2d(8, 4, 3, 1, 1)
        self.time, self.keys, self.values = nn.Linear(16, 16), nn.Linear(12, 16), nn.Linear(12, 16)

    def forward(self, sample, timestep, encoder_hidden_states):
        frequencies = torch.exp(-torch.arange(8) / 8 * 9.2)
        angles = timestep[:, None].float() * frequencies
        first = self.first(sample)
        hidden = self.down(first) + self.time(torch.cat([angles.sin(), angles.cos()], -1))[:, :, None, None]
        query = hidden.flatten(2).transpose(1, 2)
        weights = torch.softmax(query @ self.keys(encoder_hidden_states).transpose(1, 2) / 4, -1)
        hidden = (query + weights @ self.values(encoder_hidden_states)).transpose(1, 2).reshape(hidden.shape)
        hidden = nn.functional.interpolate(hidden, scale_factor=2.0)
        return self.last(self.up(torch.cat([first, hidden], 1)))


def diffusion():
    dimensions = {"sample": {0: "batch", 2: "height", 3: "width"}, "timestep": {0: "batch"},
                  "encoder_hidden_states": {0: "batch", 1: "sequence"}}
    export(Diffusion().eval(), (torch.randn(2, 4, 16, 16), torch.tensor([3, 7]), torch.randn(2, 5, 12)), "diffusion",
           list(dimensions), ["out_sample"], dimensions, True)


def vision_transformer():
    config = transformers.ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=4, intermediate_size=24,
                                    image_size=16, patch_size=8)
    model = transformers.ViTModel(config).eval()

    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, pixel_values):
            return self.model(pixel_values).last_hidden_state

    export(Hidden().eval(), (torch.randn(2, 3, 16, 16),), "vision_transformer", ["pixel_values"],
           ["last_hidden_state"], {"pixel_values": {0: "batch_size"}}, True)


class Boxes(nn.Module):
    """The boxes and scores of a detector, before non-maximum suppression."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU())
        self.boxes, self.scores = nn.Conv2d(16, 4, 1), nn.Conv2d(16, 3, 1)

    def forward(self, images):
        hidden = self.body(images)
        corners = self.boxes(hidden).flatten(2).transpose(1, 2)
        boxes = torch.cat([corners[..., :2], corners[..., :2] + corners[..., 2:].exp()], -1)
        return boxes, self.scores(hidden).flatten(2).sigmoid()


def detector():
    """NonMaxSuppression behind the exported part, as detection toolboxes add it."""
    dimensions = {"images": {0: "batch", 2: "height", 3: "width"}}
    export(Boxes().eval(), (torch.randn(1, 3, 32, 32),), "detector", ["images"], ["boxes", "scores"], dimensions,
           False)
    model = onnx.load(os.path.join(FOLDER, "detector.onnx"))
    for name, value, kind in (("most", [10], "int64"), ("overlap", [0.5], "float32"), ("least", [0.4], "float32")):
        model.graph.initializer.append(onnx.numpy_helper.from_array(
            torch.tensor(value, dtype=getattr(torch, kind)).numpy(), name))
    model.graph.node.append(helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"],
                                             ["selected"], name="/nms"))
    model.graph.output.append(helper.make_tensor_value_info("selected", onnx.TensorProto.INT64, ["selected_count", 3]))
    save(model, "detector")


ALL = [decoder_dynamo, decoder_legacy, gpt2_legacy, genai_int4, t5_decoder, experts, mamba, diffusion,
       vision_transformer, detector]

if __name__ == "__main__":
    for make in ALL:
        if len(sys.argv) < 2 or make.__name__ in sys.argv[1:]:
            torch.manual_seed(0)
            make()
