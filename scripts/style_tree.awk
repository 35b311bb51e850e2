# scripts/style_tree.awk: rules on src/ as a whole, to be run together with style.awk, which finds the code in a line:
# cycles of includes, unused names, ambiguous names, descriptions of modules. Prints "file:line: what" for each violation.
# All files must be given in one call.

BEGIN {
    # Settings that only tests change.
    allowed["reference_values_set_bounds"] = 1 # otherwise gigabytes would be needed before values are kept on disk
    # Types that are passed on without access to their members.
    opaque["parse"] = 1            # functions in tables of options take the parse that reads the table
    opaque["command"] = 1          # a parse reads the tables of commands
    opaque["dnnl_memory_desc"] = 1 # from oneDNN: only version 2 defines its members in a header
}

# A file and its header are one subject; cycles are between subjects.
function subject_of(file) {
    return substr(file, 1, length(file) - 2)
}

function base_name(file) {
    sub(/.*\//, "", file)
    return file
}

function note_include(line,    name) {
    name = line
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    n_includes++
    include_from[n_includes] = FILENAME
    include_to[n_includes] = "src/" name
    include_line[n_includes] = FNR
}

# The name that a line declares or defines at its beginning, or "" if there is none.
function declared_name(line) {
    gsub(/__attribute__ *\(\(.*\)\)/, "", line)
    if (!match(line, /[A-Za-z_][A-Za-z0-9_]* *\(/))
        return ""
    line = substr(line, RSTART, RLENGTH)
    gsub(/[ (]/, "", line)
    return line ~ /^(_Static_assert|defined)$/ ? "" : line
}

# The names of `extern const struct command a, b[3];`.
function note_data(line,    names, n, i) {
    sub(/;.*/, "", line)
    gsub(/\[[^]]*\]/, "", line)
    n = split(line, names, ",")
    for (i = 1; i <= n; i++) {
        sub(/.*[ *]/, "", names[i])
        note_name(names[i])
    }
}

function note_name(name) {
    if (name != "" && !(name in declared_in)) {
        n_declared++
        declared[n_declared] = name
        declared_in[name] = FILENAME
        declared_at[name] = FNR
    }
}

function note_uses(line,    words, n, i) {
    gsub(/((struct|enum) +|(\.|->) *)[A-Za-z_][A-Za-z0-9_]*/, " ", line)
    n = split(line, words, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++)
        if (words[i] != "" && !((words[i], FILENAME) in uses)) {
            uses[words[i], FILENAME] = 1
            files_with[words[i]]++
        } else {
            uses[words[i], FILENAME]++
        }
}

function note_tests(line,    words, n, i) {
    n = split(line, words, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++)
        in_tests[words[i]] = 1
}

FNR == 1 {
    in_tree = FILENAME ~ /^src\/.*\.[ch]$/
    is_fuzzer = FILENAME ~ /^tests\/fuzz\//
    in_header = FILENAME ~ /\.h$/
    opening = 1
    module = FILENAME
    sub(/^src\//, "", module)
    sub(/[^\/]*$/, "", module)
    if (in_tree)
        known[FILENAME] = 1
    if (in_tree && in_header && !(module in first_header)) {
        n_modules++
        modules[n_modules] = module
        first_header[module] = FILENAME
    }
}

in_tree && opening {
    if (in_header && /^ \* The module /) {
        if ($4 != module)
            finding(FNR, "this is the module " module ", not " $4)
        else if (module in described_in)
            finding(FNR, "the module " module " is described in " described_in[module] " already")
        else
            described_in[module] = base_name(FILENAME)
    }
    if (/\*\//)
        opening = 0
}

in_tree && /^ *# *include *"/ { note_include($0) }
in_tree || is_fuzzer { note_uses(code) }
!in_tree && !is_fuzzer { note_tests(code) }

# Declarations of backend.h are defined by each backend.
in_tree && code ~ /^struct [A-Za-z0-9_]+ \{/ && $2 != "backend_session" {
    if ($2 in struct_in)
        finding(FNR, "struct " $2 " is defined in " struct_in[$2] ", too")
    struct_in[$2] = FILENAME
}

# A name consists of at least a verb and an object, so that it can be searched for.
in_tree && !in_header && code ~ /^static [^=;]*\(/ {
    name = declared_name(code)
    if (name != "" && name !~ /_/)
        finding(FNR, "static function " name ": say what it does to what")
    else if (name != "" && !((name, FILENAME) in static_in)) {
        static_in[name, FILENAME] = 1
        if (++files_with_static[name] == 4)
            finding(FNR, "static function " name " stands in more than three files")
    }
}

in_tree && in_header {
    if (code ~ /^struct [A-Za-z0-9_]+;/) {
        n_forwards++
        forward_name[n_forwards] = $2
        sub(/;.*/, "", forward_name[n_forwards])
        forward_in[n_forwards] = FILENAME
        forward_at[n_forwards] = FNR
    } else if (code ~ /^struct [A-Za-z0-9_]+ \{/) {
        defined_in[$2] = FILENAME
    } else if (code ~ /^extern /) {
        note_data(code)
    } else if (code ~ /^[A-Za-z_]/ && code !~ /^(typedef|struct [A-Za-z0-9_]+ =|enum [A-Za-z0-9_]* *\{)/) {
        note_name(declared_name(code))
    }
}

in_tree && !in_header && code ~ /^[A-Za-z_]/ && code !~ /^(static|typedef|enum) / {
    if (code ~ /^[^(]*=/) {
        name = code
        sub(/ *(\[.*)?=.*/, "", name)
        sub(/.*[ *]/, "", name)
    } else {
        name = declared_name(code)
    }
    if (name != "")
        body_in[name] = FILENAME
}

# Tarjan's search: circle_of[x] is the same for all that can be reached from each other.
function visit(node,    i, next_node) {
    order[node] = low[node] = ++n_visited
    stack[++depth] = node
    on_stack[node] = 1
    for (i = 1; i <= n_edges[node]; i++) {
        next_node = edge[node, i]
        if (!(next_node in order)) {
            visit(next_node)
            if (low[next_node] < low[node])
                low[node] = low[next_node]
        } else if (on_stack[next_node] && order[next_node] < low[node]) {
            low[node] = order[next_node]
        }
    }
    if (low[node] == order[node])
        do {
            next_node = stack[depth--]
            on_stack[next_node] = 0
            circle_of[next_node] = node
        } while (next_node != node)
}

# The shortest cycle through `start`: breadth-first search within its component.
function way_round(start,    queue, from, head, tail, i, node, way) {
    queue[tail = 1] = start
    for (head = 1; head <= tail; head++) {
        node = queue[head]
        for (i = 1; i <= n_edges[node]; i++) {
            if (edge[node, i] == start) {
                way = substr(start, 5)
                for (; node != start; node = from[node])
                    way = substr(node, 5) " -> " way
                return substr(start, 5) " -> " way
            }
            if (circle_of[edge[node, i]] == circle_of[start] && !(edge[node, i] in from)) {
                from[edge[node, i]] = node
                queue[++tail] = edge[node, i]
            }
        }
    }
}

function find_circles(    i, from, to, reported) {
    for (i = 1; i <= n_includes; i++) {
        from = subject_of(include_from[i])
        to = subject_of(include_to[i])
        if ((include_to[i] in known) && from != to)
            edge[from, ++n_edges[from]] = to
    }
    for (i = 1; i <= n_includes; i++)
        if (!(subject_of(include_from[i]) in order))
            visit(subject_of(include_from[i]))
    for (i = 1; i <= n_includes; i++) {
        from = subject_of(include_from[i])
        to = subject_of(include_to[i])
        if (from != to && (to in circle_of) && circle_of[from] == circle_of[to] && !(circle_of[from] in reported)) {
            print include_from[i] ":" include_line[i] ": circle of includes: " way_round(from)
            reported[circle_of[from]] = 1
        }
    }
}

# Whether one header includes another, itself or through others.
function reaches(from, to,    queue, seen, head, tail, i) {
    queue[tail = 1] = from
    for (head = 1; head <= tail; head++)
        for (i = 1; i <= n_includes; i++)
            if (include_from[i] == queue[head] && !(include_to[i] in seen)) {
                if (include_to[i] == to)
                    return 1
                seen[include_to[i]] = 1
                queue[++tail] = include_to[i]
            }
    return 0
}

# A layer's name. Structs of a higher layer can only be declared, so only declarations within a layer are checked.
function layer_of(file,    part) {
    split(file, part, "/")
    return part[2]
}

function find_hidden_circles(    i, owner) {
    for (i = 1; i <= n_forwards; i++) {
        owner = defined_in[forward_name[i]]
        if (owner != "" && owner != forward_in[i] && layer_of(owner) == layer_of(forward_in[i]) &&
            !(forward_name[i] in opaque) && reaches(owner, forward_in[i]))
            print forward_in[i] ":" forward_at[i] ": struct " forward_name[i] " hides a circle: " owner " includes this file"
    }
}

# A name is used when it occurs in a file that neither declares nor defines it, or more than once in its header. A
# fuzzer counts as a user, because it tests functions that read files. Other tests count only for functions that their own
# file also uses: parts that have separate tests.
function find_unused(    i, name, header, body, others) {
    for (i = 1; i <= n_declared; i++) {
        name = declared[i]
        header = declared_in[name]
        body = body_in[name]
        others = files_with[name] - 1 - (body != "" && (name, body) in uses)
        if (others > 0 || uses[name, header] > 1 || name in allowed)
            continue
        if (body == "" || uses[name, body] <= 1)
            print header ":" declared_at[name] ": " name " is used by nothing"
        else if (!(name in in_tests))
            print header ":" declared_at[name] ": " name " is used by its own file only"
    }
}

function find_undescribed_modules(    i) {
    for (i = 1; i <= n_modules; i++)
        if (!(modules[i] in described_in))
            print first_header[modules[i]] ":1: no header of this folder opens with a paragraph \"The module " modules[i] " ...\""
}

END {
    find_circles()
    find_hidden_circles()
    find_unused()
    find_undescribed_modules()
}
