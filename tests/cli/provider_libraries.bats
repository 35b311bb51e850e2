# provider_libraries.bats: plug-in execution providers of ONNX Runtime. tests/plugins/provider_with_faults.c is one.

load debug_helper

export POLYGRAPHY_TRT=builtin
model=$POLYGRAPHY_ROOT/tests/models/operators_of_a_provider.onnx
library=$POLYGRAPHY_TEST_PROGRAMS/plugins/provider_with_faults.so
reference=(--onnxrt --providers cpu)
provider=(--onnxrt --providers faulty --onnxrt-provider-library "faulty=$library")

@test "the provider of a library runs nodes; those that it does not have are counted and named" {
    run polygraphy run "$model" "${reference[@]}" "${provider[@]}" -v
    [ "$status" -eq 0 ]
    logged "Creating ONNX-Runtime Inference Session with providers: \['FaultyExecutionProvider'\]"
    logged "^\[V\] FaultyExecutionProvider 1\.2\.3: provider library '.*/provider_with_faults\.so'$"
    logged '^\[W\] FaultyExecutionProvider: 1 of 15 nodes run on CPUExecutionProvider instead .*: Flatten \(flatten\)$'
}

@test "a library is registered when its provider is asked for, and unregistered in the end" {
    FAULTY_PROVIDER_RECORD=$PWD/record run polygraphy run "$model" "${provider[@]}"
    [ "$status" -eq 0 ]
    [ "$(cat record)" = $'created\nreleased' ]
    FAULTY_PROVIDER_RECORD=$PWD/unused run polygraphy run "$model" --onnxrt --providers cpu \
        --onnxrt-provider-library "faulty=$library"
    [ "$status" -eq 0 ]
    [ ! -e unused ]
}

@test "the provider has its own name, too" {
    run polygraphy run "$model" --onnxrt --providers FaultyExecutionProvider --onnxrt-provider-library "x=$library"
    [ "$status" -eq 0 ]
    run polygraphy run "$model" --onnxrt --providers other --onnxrt-provider-library "x=$library"
    [ "$status" -eq 1 ]
    logged "Could not find specified ONNX-Runtime execution provider: 'other'; .*; the library 'x' has 'FaultyExecutionProvider'$"
}

@test "a library that is missing, that is another one, or that has no device is refused in one sentence" {
    run polygraphy run "$model" --onnxrt --providers x --onnxrt-provider-library x=nowhere.so
    [ "$status" -eq 1 ]
    logged "^\[!\] provider library 'nowhere\.so': No such file or directory$"
    run polygraphy run "$model" --onnxrt --providers x --onnxrt-provider-library "x=$POLYGRAPHY_TEST_PROGRAMS/plugins/no_plugin.so"
    [ "$status" -eq 1 ]
    logged "^\[!\] '.*/no_plugin\.so' is no usable library of execution providers: Failed to get symbol CreateEpFactories"
    FAULTY_PROVIDER=no_factory run polygraphy run "$model" "${provider[@]}"
    [ "$status" -eq 1 ]
    logged "^\[!\] '.*' is no usable library of execution providers: FaultyExecutionProvider does not start$"
    FAULTY_PROVIDER=no_device run polygraphy run "$model" "${provider[@]}"
    [ "$status" -eq 1 ]
    logged "^\[!\] --providers faulty: '.*', registered as 'faulty', has no provider for a device of this machine \(CPU of vendor '.*'\)$"
    cp "$library" other.so
    run polygraphy run "$model" "${provider[@]}" --onnxrt-provider-library faulty=other.so
    [ "$status" -eq 1 ]
    logged "are both to be registered as 'faulty': give them different names$"
}

@test "a published provider that is not installed is named with its package" {
    HOME=$PWD VIRTUAL_ENV='' CONDA_PREFIX='' run polygraphy run "$model" --onnxrt --providers openvino
    [ "$status" -eq 1 ]
    logged "'openvino'; .*; install onnxruntime-ep-openvino \(pip install onnxruntime-ep-openvino\), or name the library with --onnxrt-provider-library openvino=PATH$"
}

@test "a published provider is found where pip and npm install it, and says which devices it accepts" {
    local pip=environment/lib/python3.11/site-packages/onnxruntime_ep_openvino name=libonnxruntime_providers_openvino_plugin.so
    mkdir -p $pip node_modules/onnxruntime-ep-openvino
    cp "$library" $pip/$name
    FAULTY_PROVIDER=no_device VIRTUAL_ENV=$PWD/environment run polygraphy run "$model" --onnxrt --providers openvino
    [ "$status" -eq 1 ]
    logged "^\[!\] --providers openvino: '.*/environment/.*', .* has no provider for a device of this machine .*; it needs a CPU, GPU or NPU of Intel$"
    mv $pip/$name node_modules/onnxruntime-ep-openvino
    FAULTY_PROVIDER=no_device HOME=$PWD VIRTUAL_ENV='' CONDA_PREFIX='' run polygraphy run "$model" --onnxrt --providers openvino
    [ "$status" -eq 1 ]
    logged "--providers openvino: '.*/node_modules/onnxruntime-ep-openvino/.*'"
}

@test "options that would have no effect are refused, and what the provider does not check is named" {
    run polygraphy run "$model" --onnxrt --onnxrt-provider-library "faulty=$library"
    [ "$status" -eq 1 ]
    logged '--onnxrt-provider-library has no effect without --providers: add --providers faulty'
    run polygraphy run "$model" --onnxrt --providers faulty --onnxrt-provider-library "$library"
    [ "$status" -eq 1 ]
    logged "'.*' is not NAME=PATH: a name for --providers, and the path of a library"
    run polygraphy run "$model" "${provider[@]}" --provider-options faulty:fault=unknown,fualt=one_element
    [ "$status" -eq 0 ]
    logged '^\[W\] --provider-options faulty:fault=unknown: the value was not checked, because FaultyExecutionProvider does not declare its options; it may ignore an unsuitable value$'
    logged '^\[W\] --provider-options faulty:fualt: the library of FaultyExecutionProvider does not hold this name, so that nothing may come of it'
}

@test "what a provider says of an option that it ignores is shown" {
    run polygraphy run "$model" "${provider[@]}" --provider-options faulty:unused=1
    [ "$status" -eq 0 ]
    logged '^\[W\] ONNX-Runtime: Provider option unused is ignored\.$'
    run polygraphy run "$model" "${provider[@]}" --provider-options faulty:unused=1 -v
    [ "$(grep -c 'Provider option unused is ignored' <<<"$output")" -eq 1 ]
}

@test "each of ten faults in the provider is named with its node by debug accuracy" {
    local fault node
    while read -r fault node; do
        run polygraphy debug accuracy "$model" "${reference[@]}" "${provider[@]}" \
            --provider-options "faulty:fault=$fault,node=$node" -o "$fault"
        [ "$status" -eq 0 ]
        logged "^\[I\] Cause: '$node' \([A-Za-z]*\) is computed wrongly: alone, "
        logged '^\[I\]     Evidence: the minimal case fails in a fresh process$'
    done <<'END'
one_element add_1
swapped_operands sub_1
wrong_broadcast mul_1
bfloat16_result mul_2
negative_slope relu_2
nan_when_large relu_1
float16_sums matmul_1
last_block_left_out matmul_2
wrong_axis softmax_1
edge_padding conv_2
END
}

@test "debug kernels names the node, and the node that the provider does not have" {
    run polygraphy debug kernels "$model" "${provider[@]}" --provider-options faulty:fault=wrong_broadcast,node=mul_1
    [ "$status" -eq 1 ]
    logged '^\[I\] 1 of 12 nodes are computed with errors beyond their bound$'
    logged '^\[I\]     mul_1  Mul '
    logged '^\[I\]     flatten  Flatten   .*fallback to CPU EP has been explicitly disabled'
}

@test "debug passes finds the node of each fault by moving nodes to the processor" {
    local fault decision
    while read -r fault decision; do
        run polygraphy debug passes "$model" "${provider[@]}" -o "$fault" --decisions assignment \
            --provider-options "faulty:fault=$fault,node=${decision#*@}"
        [ "$status" -eq 0 ]
        logged "^\[I\] Cause: assignment:$decision$"
        logged "fails with only assignment:$decision enabled$"
    done <<'END'
one_element Add@add_1
wrong_axis Softmax@softmax_1
edge_padding Conv@conv_2
END
    run polygraphy debug passes "$model" "${provider[@]}" --provider-options faulty:fault=wrong_broadcast,node=mul_1 \
        --among assignment --reduce
    [ "$status" -eq 0 ]
    [ "$(polygraphy inspect model polygraphy_passes/reduced.onnx --show layers | grep -c '^ *Node ')" -eq 1 ]
}

@test "nodes are moved to the processor only from another provider" {
    run polygraphy debug passes "$model" "${reference[@]}" --decisions assignment
    [ "$status" -eq 1 ]
    logged 'assignment: all nodes run on the processor already: name another provider with --providers$'
    run polygraphy run "$model" "${provider[@]}" --save-outputs all.json
    [ "$status" -eq 0 ]
    POLYGRAPHY_DISABLED='assignment:Relu@relu_1;assignment:MatMul@matmul_2;?assignment:Relu@missing' run polygraphy run "$model" \
        "${provider[@]}" --load-outputs all.json -v
    [ "$status" -eq 0 ]
    logged '^\[V\] 2 of 15 nodes run on the processor by request; the model has 5 parts for that$'
    POLYGRAPHY_DISABLED=assignment:Relu@missing run polygraphy run "$model" "${provider[@]}"
    [ "$status" -eq 1 ]
    logged "the model has no node 'missing' to run on the processor$"
}

@test "debug passes and debug reduce run with it" {
    run polygraphy debug passes "$model" "${provider[@]}"
    [ "$status" -eq 0 ]
    logged 'The check passes with all optimizations enabled: nothing to find'
    polygraphy run "$model" "${reference[@]}" --save-inputs inputs.json --save-outputs golden.json
    run polygraphy debug reduce "$model" -o reduced.onnx --load-inputs inputs.json --check polygraphy run polygraphy_debug.onnx \
        "${provider[@]}" --provider-options faulty:refuse=sub_2
    [ "$status" -eq 0 ]
    [ "$(polygraphy inspect model reduced.onnx --show layers | grep -c '^ *Node ')" -eq 1 ]
}

@test "nodes that the provider claims and cannot compile are named, though it refuses the whole session" {
    run polygraphy run "$model" "${provider[@]}" --provider-options faulty:refuse=sub_2
    [ "$status" -eq 1 ]
    logged "^\[!\] ONNX Runtime cannot load '.*': the compiler has no code for 'sub_2'$"
    run polygraphy debug accuracy "$model" "${reference[@]}" "${provider[@]}" --provider-options faulty:refuse=sub_2 -o one
    [ "$status" -eq 0 ]
    logged "^\[I\] Cause: the suspect does not run 'sub_2' \(Sub\)$"
    run polygraphy debug accuracy "$model" "${reference[@]}" "${provider[@]}" --provider-options faulty:refuse=Sub -o all
    [ "$status" -eq 0 ]
    logged "^\[I\] Cause: the suspect does not run 'sub_1' \(Sub\), nor 1 other part$"
    logged "^\[I\]     Evidence: neither does it run 'sub_2' \(Sub\)$"
    logged "^\[I\]     Evidence: with the reference's values for what these 2 parts make the rest runs$"
}

@test "a model that is refused because of default values of its inputs is named with them, and fixed" {
    run polygraphy debug accuracy "$POLYGRAPHY_ROOT/tests/models/default_of_an_input.onnx" "${reference[@]}" "${provider[@]}" \
        --provider-options faulty:refuse=defaults -o folder
    [ "$status" -eq 0 ]
    logged "^\[I\] Cause: the suspect does not run the model because of initializers that are inputs of the model as well \(their default values\): 'w'$"
    logged '^\[I\]     Fix: initializers that are not inputs as well: folder/constant_defaults\.onnx$'
    run polygraphy run folder/constant_defaults.onnx "${provider[@]}" --provider-options faulty:refuse=defaults
    [ "$status" -eq 0 ]
}

@test "check lint names a node that the provider claims and cannot compile" {
    run polygraphy check lint "$model" --providers faulty --onnxrt-provider-library "faulty=$library" \
        --provider-options faulty:refuse=sub_2
    [ "$status" -eq 1 ]
    logged "^\[E\] LINT \| Name: sub_2, Op: Sub \| the compiler has no code for 'sub_2'$"
}

@test "runners with different ONNX Runtimes have the library in a process of their own" {
    local runtime=${POLYGRAPHY%/*}/libonnxruntime.so.1
    ln -s "$runtime" other.so
    run polygraphy run "$model" --onnxrt --onnxrt-library "$runtime" --providers cpu --onnxrt --onnxrt-library ./other.so \
        --providers faulty --onnxrt-provider-library "faulty=$library" --provider-options faulty:fault=one_element,node=add_2
    [ "$status" -eq 1 ]
    logged "Creating ONNX-Runtime Inference Session with providers: \['FaultyExecutionProvider'\]"
    logged '^\[W\] FaultyExecutionProvider: 1 of 15 nodes run on CPUExecutionProvider instead .*: Flatten \(flatten\)$'
    logged 'Mismatched elements: '
}

@test "experiments with another library are not reused" {
    local pid
    cp "$library" mine.so
    question=("$model" "${reference[@]}" --onnxrt --providers faulty --onnxrt-provider-library faulty=mine.so
        --provider-options faulty:fault=one_element,node=add_1 -o folder)
    "$POLYGRAPHY" debug accuracy "${question[@]}" >/dev/null 2>&1 3>&- &
    pid=$!
    while kill -0 $pid && [ "$(find folder -name done.json 2>/dev/null | wc -l)" -lt 5 ]; do
        sleep 0.01
    done
    kill -KILL $pid
    wait $pid || :
    cp -r folder kept
    run polygraphy debug accuracy "${question[@]}"
    [ "$status" -eq 0 ]
    logged "Resuming with the experiments in 'folder'"
    rm -r folder
    mv kept folder
    echo changed >>mine.so
    run polygraphy debug accuracy "${question[@]}"
    [ "$status" -eq 0 ]
    [[ $output != *'Resuming with the experiments'* ]]
    find . -mindepth 1 -name '.*' -type f -delete
}
