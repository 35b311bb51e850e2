# scripts/style.awk: rules on the text of C files: layers, sizes, functions that must not be used.
# Prints "file:line: what" for each violation.

BEGIN {
    # The layers of src/, lowest first, and what each may include in addition to itself; src/cli may include all of them.
    may_use["base"] = ""
    may_use["tensor"] = "base"
    may_use["onnx"] = "base tensor"
    may_use["format"] = "base tensor onnx"
    may_use["backend"] = "base tensor onnx format"
    may_use["engine"] = "base tensor onnx format backend"
    may_use["comparator"] = "base tensor onnx format backend"
    may_use["plot"] = "base tensor comparator"
    may_use["lint"] = "base tensor onnx format backend comparator"
    may_use["search"] = "base"
    may_use["blame"] = "base"
    may_use["report"] = "base tensor onnx format"
    may_use["debug"] = "base tensor onnx format backend engine comparator search blame"
    may_use["library"] = "base tensor onnx format backend engine comparator search blame debug"

    last_resort = "src/base/memory.c" # out of memory: prints a message and exits
    longest_file = 700
    longest_function = 80
    most_parameters = 6
    longest_line = 120
    most_guarded_steps = 2 # `if (rc == 0)`; more of them are replaced by `goto done`
    banned = call("strcpy|strcat|sprintf|vsprintf|gets|system|strtok|atoi|atol|atof")
    # A result of a debug tool goes through report/result.h, so that the log, JSON and the page agree.
    rendering = call("json_writer_[a-z_]+|report_(set_verdict|add_proof|begin_table|add_row|add_command)") "|LOG_FINISH"
    renders_results = "src/cli/debug/outputs.c"
    printing = call("printf|vprintf|puts|putchar|perror|exit|abort") \
        "|(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)"
}

# A pattern for calls of the named functions.
function call(names) {
    return "(^|[^A-Za-z0-9_.>])(" names ") *\\("
}

function finding(line, what) {
    print FILENAME ":" line ": " what
}

# The line without comments and the contents of quotes. `in_comment` is 1 when a comment continues on the next line.
function code_of(line,    code, start) {
    code = ""
    while (line != "") {
        if (in_comment) {
            start = index(line, "*/")
            if (!start)
                return code
            line = substr(line, start + 2)
            in_comment = 0
        } else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/)) {
            code = code substr(line, 1, RSTART - 1)
            start = substr(line, RSTART, 2)
            line = substr(line, RSTART + RLENGTH)
            if (start == "//")
                return code
            if (start == "/*")
                in_comment = 1
            else
                code = code "\"\""
        } else {
            return code line
        }
    }
    return code
}

function check_include(line,    name, used) {
    name = line
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    used = name
    sub(/\/.*/, "", used)
    if (used == name)
        finding(FNR, "include \"" name "\": write the path from src/")
    else if (used == "cli" || used in may_use) {
        if (used != layer && index(" " may_use[layer] " ", " " used " ") == 0)
            finding(FNR, "src/" layer " may not use src/" used)
    }
}

# How many parameters the head of a function's definition names: "int f(int a, int (*b)(int, int))" two.
function count_parameters(head,    n, i, depth, character) {
    sub(/^[^(]*\(/, "", head)
    if (head ~ /^(void)?\)/)
        return 0
    n = 1
    for (i = 1; depth >= 0 && i <= length(head); i++) {
        character = substr(head, i, 1)
        depth += (character == "(") - (character == ")")
        n += character == "," && depth == 0
    }
    return n
}

function end_file() {
    if (last > longest_file)
        print previous ":" last ": file of " last " lines, at the most " longest_file
}

FNR == 1 {
    end_file()
    previous = FILENAME
    in_comment = opened = 0
    head = ""
    split(FILENAME, part, "/")
    layer = part[1] == "src" ? part[2] : ""
    if (layer != "" && layer != "cli" && !(layer in may_use))
        finding(1, "src/" layer " is not a layer that style.awk knows")
}

{
    last = FNR
    if (length($0) > longest_line)
        finding(FNR, "line of " length($0) " columns, at the most " longest_line)
    if (layer != "" && layer != "cli" && /^ *# *include *"/)
        check_include($0)
    code = code_of($0)
    if (code ~ banned)
        finding(FNR, "a function that is not used here: " $0)
    if (layer != "" && layer != "base" && code ~ /^ *# *define +_(GNU|DEFAULT|BSD)_SOURCE/)
        finding(FNR, "only src/base uses more of the system than POSIX has: " $0)
    if (layer != "" && layer != "cli" && FILENAME != last_resort && code ~ printing)
        finding(FNR, "only src/cli prints or exits: " $0)
    if (FILENAME ~ /^src\/cli\/debug\// && FILENAME != renders_results && code ~ rendering)
        finding(FNR, "a result is filled, and its renderers write it (report/result.h): " $0)
    if (code ~ /^[A-Za-z_].*\(/) {
        head = code
        headed = FNR
    } else if (code ~ /^ /) {
        head = head code
    }
    if (code ~ /^\{/) {
        opened = FNR
        guarded = 0
        if (layer != "" && head != "" && count_parameters(head) > most_parameters)
            finding(headed, "function of " count_parameters(head) " parameters, at the most " most_parameters)
    }
    if (layer != "" && code ~ /(^|[^A-Za-z0-9_])rc == 0([^A-Za-z0-9_]|$)/)
        guarded++
    if (code ~ /^\}/) {
        if (opened && guarded > most_guarded_steps)
            finding(opened, guarded " steps guarded by rc == 0, at the most " most_guarded_steps ": goto done")
        if (opened && FNR - opened + 1 > longest_function)
            finding(opened, "function of " FNR - opened + 1 " lines, at the most " longest_function)
        opened = 0
    }
}

END {
    end_file()
}
