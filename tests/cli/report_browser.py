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


def check_node(page, node):
    """What is told of a chosen node."""
    told = page.text(".details")
    assert node["name"] in told and node["operator"] in told, f"{node['name']} is not told of: {told}"
    results = {tensor["name"]: tensor for tensor in page.document.get("tensors", [])}
    for output in node["outputs"]:
        tensor = page.document["network"]["tensors"][output]
        assert tensor["name"] in told, f"{tensor['name']} is not told of"
        result = results.get(tensor["name"], {})
        if "first_bad" in result:
            assert result["first_bad"]["index"] in told, "the first bad element is missing"
            assert str(abs(result["first_bad"]["reference"]))[:6] in told, "its value is missing"


def check_graph(page):
    boxes = [box for box in page.document["network"]["layout"]["boxes"] if "nodes" in box]
    drawn = page.all(".frame .node")
    assert len(drawn) == len(boxes), "not all boxes are drawn"
    for i in (0, len(boxes) // 2):
        if len(boxes[i]["nodes"]) == 1:
            page.click(drawn[i].find_element(By.CSS_SELECTOR, "rect"))
            check_node(page, page.document["network"]["nodes"][boxes[i]["nodes"][0]])
    check_keys(page, boxes)


def check_keys(page, boxes):
    lines = page.document["network"]["layout"]["lines"]
    line = next((line for line in lines if line["from"] < len(boxes) and line["to"] < len(boxes)), None)
    if line is None:
        return
    start = page.all(".frame .node")[line["from"]]
    page.driver.execute_script("arguments[0].focus()", start)
    start.send_keys(Keys.ENTER)
    before = page.text(".details h3")
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert page.text(".details h3") != before, "the arrow key does not go on"


def check_node_table(page):
    """Where there is no graph."""
    assert page.document["network"]["no_layout"] in page.text("#network"), "it does not say why there is no graph"
    page.click(page.all("#network tbody tr")[1])
    check_node(page, page.document["network"]["nodes"][1])


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
    assert page.text(".details .command").startswith("polygraphy surgeon extract "), "the command is missing"
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
    assert "cannot be cut out" in page.text(".details")
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
    "inspect": [check_verdict, check_graph, check_tables],
    "results": [check_verdict, check_graph],
    "all": [check_verdict, check_graph, check_curves, check_search, check_tables],
    "hostile": [check_verdict, check_graph, check_curves, check_search, check_tables],
    "no-graph": [check_verdict, check_node_table],
}


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
                except AssertionError as error:
                    sys.exit(f"{path} at {width} pixels: {error}")
    finally:
        driver.quit()


main()
