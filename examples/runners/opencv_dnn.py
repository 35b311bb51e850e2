#!/usr/bin/python3
"""Runs an ONNX model with OpenCV's DNN module, as a runner of polygraphy:

    polygraphy run model.onnx --onnxrt --runner 'examples/runners/opencv_dnn.py {model} {inputs:npz} {outputs:npz}'

Needs OpenCV with its Python module: python3-opencv in Debian and Ubuntu, opencv-python from PyPI.
"""

import sys

import cv2
import numpy

model, inputs, outputs = sys.argv[1:]
net = cv2.dnn.readNetFromONNX(model)
net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)

# OpenCV takes float32, and gives arrays of no dimension one of size 1.
for name, value in numpy.load(inputs).items():
    net.setInput(value.astype(numpy.float32), name)
names = net.getUnconnectedOutLayersNames()
numpy.savez(outputs, **dict(zip(names, net.forward(names))))
