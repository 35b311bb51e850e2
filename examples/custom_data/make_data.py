#!/usr/bin/python3
"""Writes images.npz, and golden.npz with what the classifier should make of them, computed by numpy.

Needs python3-onnx (Debian).
"""
import numpy
import onnx
from onnx import numpy_helper

rows, columns = numpy.mgrid[0:8, 0:8]
images = numpy.stack([numpy.sin(rows / 2), numpy.cos(columns / 3), (rows + columns) / 14]).astype(numpy.float32)
images = numpy.stack([images, 1 - images])
numpy.savez("images.npz", image=images)

weights = {w.name: numpy_helper.to_array(w) for w in onnx.load("classifier.onnx").graph.initializer}
hidden = numpy.maximum(images.reshape(2, -1) @ weights["w"] + weights["b"], 0)
numpy.savez("golden.npz", logits=hidden @ weights["v"])
