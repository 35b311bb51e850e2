# scripts/style_docs.awk: checks that what documents, comments and pictures refer to exists. Its arguments are all C files and
# documents of the tree; prints "file:line: what" for each missing thing.
#
# - files that a document names in backquotes, with src/ or without, and files that it links to
# - documents, and headings in them, that a C file names: docs/formats.md, "Plan files"
# - modules in a picture; and for each of its arrows between two modules, that one of them includes a header of the other

function note(what) {
    where[++notes] = FILENAME ":" FNR
    kind[notes] = what
}

# The next match of `pattern` in `rest`, which is cut after it; "" if there is none.
function next_match(pattern,    found) {
    if (!match(rest, pattern))
        return ""
    found = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    return found
}

function folder_of(path) {
    return sub(/\/[^\/]*$/, "", path) ? path : ""
}

function in_quotes(text) {
    gsub(/^[^"]*"|"[^"]*$/, "", text)
    return text
}

FNR == 1 {
    there[FILENAME]
    folder = folder_of(FILENAME)
    module = folder
    if (sub(/^src\//, "", module))
        modules[module]
}

FILENAME ~ /\.[ch]$/ && /^#include "/ {
    knows[module, folder_of(in_quotes($0))]
}

FILENAME ~ /\.[ch]$/ && /docs\/[a-z-]+\.md/ {
    rest = $0
    while ((found = next_match("docs/[a-z-]+\\.md(, \"[^\"]+\")?")) != "") {
        note("document")
        wanted[notes] = found
        sub(/,.*/, "", wanted[notes])
        if (found ~ /"/)
            heading[notes] = in_quotes(found)
    }
}

FILENAME ~ /\.md$/ {
    if (/^#+ /) {
        rest = $0
        sub(/^#+ /, "", rest)
        headings[FILENAME, rest]
    }
    rest = $0
    while ((found = next_match("`[a-z0-9_/]+/[a-z0-9_]+\\.[ch]`")) != "") {
        note("source")
        wanted[notes] = substr(found, 2, length(found) - 2)
    }
    rest = $0
    while ((found = next_match("\\]\\([a-z_/-]+\\.(md|svg)[)#]")) != "") {
        note("link")
        wanted[notes] = folder (folder == "" ? "" : "/") substr(found, 3, length(found) - 3)
    }
}

FILENAME ~ /\.svg$/ {
    if (match($0, /class="name"[^>]*>[a-z0-9_\/]+\/</)) {
        note("module")
        wanted[notes] = substr($0, RSTART, RLENGTH - 2)
        sub(/.*>/, "", wanted[notes])
    }
    if (match($0, /data-from="[^"]*" data-to="[^"]*"/)) {
        note("arrow")
        split(substr($0, RSTART, RLENGTH), part, "\"")
        from[notes] = part[2]
        to[notes] = part[4]
    }
}

END {
    for (i = 1; i <= notes; i++) {
        if (kind[i] == "module" && !(wanted[i] in modules))
            print where[i] ": there is no module " wanted[i] "/"
        if (kind[i] == "arrow" && !((from[i], to[i]) in knows) && !((to[i], from[i]) in knows))
            print where[i] ": neither of " from[i] "/ and " to[i] "/ includes the other"
        if (kind[i] == "source" && !(wanted[i] in there) && !("src/" wanted[i] in there) &&
            !("include/" wanted[i] in there))
            print where[i] ": there is no " wanted[i]
        if ((kind[i] == "link" || kind[i] == "document") && !(wanted[i] in there))
            print where[i] ": there is no " wanted[i]
        else if (i in heading && !((wanted[i], heading[i]) in headings))
            print where[i] ": " wanted[i] " has no heading \"" heading[i] "\""
    }
}
