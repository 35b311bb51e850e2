"""Opens pages of reports in Chromium and uses them: report_browser.py KIND=PAGE...

Fails with one line that says what is wrong with which page, at which width.
"""
import json
import os
import pathlib
import sys
import tempfile

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WIDTHS = [400, 1600]
HOSTILE = '</script>"><img src=x onerror=window.fired=1>'


def start():
    options = webdriver.ChromeOptions()
    for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]:
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Page:
    def __init__(self, driver, path):
        self.driver = driver
        self.url = pathlib.Path(path).absolute().as_uri()
        self.document = None

    def open(self, width):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        self.driver.get(self.url)
        self.document = json.loads(self.driver.execute_script("return document.getElementById('document').textContent"))

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.driver.execute_script("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, element):
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center', inline: 'center'})", element)
        element.click()

    def requests(self):
        entries = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        urls = [entry["params"]["request"]["url"] for entry in entries if entry["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if url != self.url and not url.startswith("data:")]


def check_quiet(page, width):
    """Nothing was said, asked for, or run; nothing sticks out."""
    said = [entry["message"] for entry in page.driver.get_log("browser")]
    assert not said, f"the console says {said}"
    assert not page.requests(), "it asks for other files"
    assert page.driver.execute_script("return window.fired") is None, "a name ran as script"
    assert len(page.all("script")) == 2, "a name became a script element"
    assert all(image.get_attribute("src").startswith("data:image/svg+xml,") for image in page.all("img"))
    wide = page.driver.execute_script("return document.documentElement.scrollWidth")
    assert wide <= width, f"it is {wide} pixels wide"
    try:
        page.driver.switch_to.alert.dismiss()
        assert False, "something opened an alert"
    except NoAlertPresentException:
        pass


def check_verdict(page):
    verdict = page.document["verdict"]
    assert page.text("h1") == verdict["text"], "the verdict is not there"
    for line in verdict["proof"]:
        assert line in page.text("header"), f"the proof is not there: {line}"


def names_of(page, selector):
    """The names of the boxes drawn for a selector."""
    return page.driver.execute_script(
        "return [...document.querySelectorAll(arguments[0] + ' > title')].map((title) => title.textContent.split('\\n')[0])",
        f".frame {selector}")


def check_node(page, name):
    """What is told of a chosen node."""
    told = page.text(".details")
    node = next(node for number, node in enumerate(page.document["network"]["nodes"])
                if name == (node["name"] or f"{node['op']} #{number}"))
    assert name in told and node["op"] in told, f"{name} is not told of: {told}"
    results = {tensor["name"]: tensor for tensor in page.document.get("tensors", [])}
    for output in node["outputs"]:
        assert output in told, f"{output} is not told of"
        result = results.get(output, {})
        if "first_bad" in result:
            assert result["first_bad"]["index"] in told, "the first bad element is missing"
            assert str(abs(result["first_bad"]["reference"]))[:6] in told, "its value is missing"


def check_lines(page):
    """Each line ends at a box."""
    astray = page.driver.execute_script("""
        const boxes = [...document.querySelectorAll(".frame .node, .frame .end")].map((box) => box.getBBox());
        return [...document.querySelectorAll(".frame .line")].map((line) => line.getPointAtLength(line.getTotalLength()))
            .filter(({ x, y }) => !boxes.some((box) => x >= box.x && x <= box.x + box.width && y >= box.y - 1 && y <= box.y + box.height))
            .length""")
    assert astray == 0, f"{astray} lines end at no box"


def check_graph(page):
    """A click shows what is known of a node, and arrow keys go on."""
    names = names_of(page, ".node:not(.folded)")
    drawn = page.all(".frame .node:not(.folded)")
    assert names and len(names) == len(drawn), "nothing is drawn"
    if not page.all(".frame .node.folded"):
        nodes = page.document["network"]["nodes"]
        assert len(names) == sum(node["op"] != "Constant" for node in nodes), "not all nodes are drawn"
    beyond = page.driver.execute_script("""
        const frame = document.querySelector(".frame svg").viewBox.baseVal;
        return [...document.querySelectorAll(".frame .line, .frame .layer")].map((line) => line.getBBox()).filter((box) =>
            box.x < frame.x || box.y < frame.y || box.x + box.width > frame.x + frame.width || box.y + box.height > frame.y + frame.height)
            .length""")
    assert beyond == 0, f"{beyond} lines leave the picture"
    check_lines(page)
    for i in (0, len(names) // 2):
        page.click(drawn[i].find_element(By.CSS_SELECTOR, "rect"))
        check_node(page, names[i])
    start = page.all(".frame .node")[0]
    page.driver.execute_script("arguments[0].focus()", start)
    start.send_keys(Keys.ENTER)
    before = page.text(".details h3")
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert page.text(".details h3") != before, "the arrow key does not go on"


def check_culprits(page):
    """Nodes that the answer names are marked, and the first one's details are there before any click."""
    culprits = page.document["culprits"]
    assert sorted(names_of(page, ".node.culprit")) == sorted(culprits), f"marked are {names_of(page, '.node.culprit')}"
    assert page.text(".details h3") == culprits[0], "the details are those of another node"
    assert "the culprit" in page.text(".details")
    check_node(page, culprits[0])


def check_layers(page):
    """Layers of several nodes are drawn around them."""
    layers = [layer for layer in page.document["layers"] if len(layer["nodes"]) > 1]
    assert sorted(names_of(page, ".layer")) == sorted(layer["name"] for layer in layers), "the layers are not drawn"
    page.click(page.all(".frame .node rect")[0])
    assert "Layer " in page.text(".details"), "the layer of a node is not told of"


def check_command(page):
    command = page.text(".details .command")
    assert command.startswith("polygraphy surgeon extract "), "the command is missing"


def check_tables(page):
    """A click on a head sorts, another one the other way round."""
    section = page.all("section[id^=table]")[-1]
    head = section.find_elements(By.CSS_SELECTOR, "thead th")[-1]

    def column():
        texts = page.driver.execute_script(
            "return [...arguments[0].querySelectorAll('tbody tr td:last-child')].map((cell) => cell.textContent)", section)
        return [float(text) for text in texts if text]

    page.click(head.find_element(By.CSS_SELECTOR, "button"))
    assert head.get_attribute("aria-sort") == "descending"
    assert column() == sorted(column(), reverse=True), "the table is not sorted"
    page.click(head.find_element(By.CSS_SELECTOR, "button"))
    assert head.get_attribute("aria-sort") == "ascending"
    assert column() == sorted(column()), "the table is not sorted the other way round"


def check_curves(page):
    first = next(tensor for tensor in page.document["tensors"] if tensor["outcome"] == "differs")
    assert first["name"] in page.text("#errors"), "where the error begins is not said"
    assert first["name"] in page.text(".reading"), "the curve does not begin there"
    page.driver.execute_script("document.querySelector('.curves').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert first["name"] + " " not in page.text(".reading"), "the arrow key does not go on"


def check_search(page):
    summary = page.all(".candidate summary")[2]
    page.click(summary)
    assert "outputs differ" in page.all(".candidate")[2].text, "the log of a candidate is not shown"


def find_in_model(page, text):
    field = page.all("#network .tools input")[0]
    field.clear()
    field.send_keys(text, Keys.ENTER)


def press(page, text):
    page.click(next(button for button in page.all("#network button") if button.text == text))


def check_model(page):
    """Groups and bodies open, a search opens what is around the node, and the command cuts out what is chosen."""
    assert 0 < len(page.all(".frame .node")) <= 130, "too much is drawn at first, or nothing"
    find_in_model(page, "block_77/layer_3/relu")
    shown = page.text(".details")
    assert "block_77/layer_3/relu" in shown and "Relu" in shown, f"the details do not show the node: {shown}"
    check_command(page)
    assert "block_77/layer_3" in page.text(".actions"), "its groups cannot be folded"
    before = len(page.all(".frame .node"))
    press(page, "fold block_77")
    assert len(page.all(".frame .node")) < before, "the group does not fold"
    press(page, "open the group")
    assert len(page.all(".frame .node")) > 2, "the group does not open"
    find_in_model(page, "decided")
    press(page, "open then_branch")
    assert "inside" in page.text(".frame") and "main graph" in page.text(".trail"), "the body does not open"
    page.click(page.all(".frame .node")[0].find_element(By.CSS_SELECTOR, "rect"))
    assert "tensors of the main graph only" in page.text(".details")
    press(page, "main graph")
    find_in_model(page, "weighted")
    shown = page.text(".details")
    assert "1 … 3, mean 2" in shown and "NaN" not in shown, f"the statistics of the weight are not there: {shown}"
    field = page.all("#network .tools input")[1]
    field.send_keys("MatMul")
    dimmed, drawn = len(page.all(".frame .node.dimmed")), len(page.all(".frame .node"))
    assert 0 < dimmed < drawn, f"{dimmed} of {drawn} boxes are dimmed"
    field.clear()


KINDS = {
    "model": [check_model],
    "hostile-model": [],
    "constants": [check_lines],
    "inspect": [check_verdict, check_graph, check_tables],
    "results": [check_verdict, check_graph],
    "all": [check_verdict, check_graph, check_curves, check_search, check_tables],
    "hostile": [check_verdict, check_graph, check_curves, check_search, check_tables],
    "accuracy": [check_verdict, check_culprits, check_command, check_layers, check_curves, check_graph],
    "precision": [check_verdict, check_culprits, check_graph],
    "reduce": [check_verdict, check_culprits, check_command, check_graph],
    "large": [check_verdict, check_culprits, check_graph],
}


def check_without_scripts(page):
    """The evidence, the fix and the commands are text of the page itself."""
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.driver.get(page.url)
    shown = page.all("body")[0].text
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    document = page.document
    assert not page.requests(), "without scripts it asks for other files"
    assert "Scripts are disabled here" in shown, "the page does not say that scripts are disabled"
    texts = [document["verdict"]["text"], *document["verdict"]["proof"], *(item["line"] for item in document.get("commands", [])),
             *(item["value"] for item in document.get("environment", []))]
    for text in texts:
        assert " ".join(text.split()) in " ".join(shown.split()), f"without scripts the page does not show: {text}"


def main():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # Chromium has a socket there, whose path has to be short
        os.environ["TMPDIR"] = folder
        use_pages()


def use_pages():
    driver = start()
    try:
        for argument in sys.argv[1:]:
            kind, path = argument.split("=")
            page = Page(driver, path)
            for width in WIDTHS:
                page.open(width)
                try:
                    if kind.startswith("hostile"):
                        assert HOSTILE in page.text("h1"), "the name is not shown as it is"
                    for check in KINDS[kind]:
                        check(page)
                    check_quiet(page, width)
                    check_without_scripts(page)
                except AssertionError as error:
                    sys.exit(f"{path} at {width} pixels: {error}")
    finally:
        driver.quit()


main()
