#!/usr/bin/env bash
# scripts/website/make.sh: README, documents, examples and manuals as a website, in the folder html of the build folder
# (BUILD, default build): linked pages with a search, which need neither a server nor a network. Needs Sphinx, MyST's parser
# and the theme Furo; warnings of Sphinx, such as those about broken links, are errors.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
pages=$build/website

rm -rf "$pages" "$build/html"
mkdir -p "$pages"
cp -R README.md LICENSE docs examples include "$pages"
"${POLYGRAPHY:-$build/polygraphy}" help --write-manuals "$pages/man" --manual-format markdown
sphinx-build -q -W --keep-going -b html -d "$build/website-parsed" -c scripts/website "$pages" "$build/html"
cp "$build/html/README.html" "$build/html/index.html"
scripts/website/check.py "$build/html" "$pages"
echo "$build/html/index.html"
