"""Modules of the console without a page: texts, links, patterns, differences. They run in the browser that loads them."""

import json
import unittest

from browser import Browser
from gateway import gateway


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = cls.enterClassContext(gateway())
        cls.browser = Browser(cls.gateway.url)
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.open("settings")

    def call(self, module, expression, *arguments):
        """The value of an expression in which `m` is the module and `a` has the arguments."""
        value = self.browser.driver.execute_async_script(
            "const [a, done] = [[...arguments].slice(0, -1), arguments[arguments.length - 1]];"
            f"import('./console/{module}.js').then((m) => {expression}).then("
            "(value) => done({ value }), (error) => done({ error: String(error) }))", *arguments)
        self.assertNotIn("error", value)
        return value.get("value")

    def test_odd_characters_are_visible(self):
        for text, shown in [
                ("a\u202eb", "a\\u202Eb"), ("a\0b", "a\\u0000b"), ("a\u001b[31m", "a\\u001B[31m"), ("a\nb\tc", "a⏎b⇥c"),
                ("\U000e0041", "\\u{E0041}"), ("\u200b\ufeff\uffa0", "\\u200B\\uFEFF\\uFFA0"),
                ("\U0001f468\u200d\U0001f469",) * 2, ("Żółć", "Żółć"), ("", "")]:
            self.assertEqual(self.call("text", "m.visible(a[0])", text), shown)
        self.assertEqual(self.call("text", "m.visible('a' + String.fromCharCode(0xd800) + 'b')"), "a\\uD800b")
        self.assertEqual(self.call("text", "m.visible('\\u{1f600}'.repeat(9), 5)"), "\U0001f600\U0001f600…")

    def test_only_web_links_are_links(self):
        for url, is_safe in [
                ("https://a.example/x?y#z", True), ("http://a.example", True), ("#/live", True), ("media/ab", True),
                ("javascript:alert(1)", False), ("JAVASCRIPT:alert(1)", False), (" javascript:alert(1)", False),
                ("data:text/html,x", False), ("//evil.example", False), ("/x", False), ("https:\\\\evil", False),
                ("java\nscript:alert(1)", False), ("https://a b", False), ("", False)]:
            self.assertEqual(self.call("h", "m.safeLink(a[0])", url), is_safe, url)

    def test_only_stored_files_are_pictures(self):
        digest = "ab" * 32
        for url, is_safe in [
                (f"media/{digest}", True), (f"media/{digest}?expires=1&signature=x-_y", True), ("media/x", False),
                (f"https://evil.example/media/{digest}", False), (f"media/{digest}/../../x", False),
                ("data:image/svg+xml,x", False)]:
            self.assertEqual(self.call("h", "m.safePicture(a[0])", url), is_safe, url)

    def test_a_broken_pattern_has_its_position(self):
        for text, line, column in [
                ('{"a" 1}', 1, 6), ('{"a": [1, ]}', 1, 11), ('{\n "a": x}', 2, 7), ('{"a": "b', 1, 9), ("{", 1, 2),
                ('{"a":["x" "y"]}', 1, 11), ('{"a":1}}', 1, 8), ('["a"]', 1, 1), ("nul", 1, 1)]:
            found = self.call("pattern", "m.readPattern(a[0])", text)
            self.assertEqual((found.get("line"), found.get("column")), (line, column), text)
        for text in ("", "  ", "{}", '{"data":{"kind":["alert",null,1.5e3,true,{"prefix":"\\u00e9"}]}}'):
            self.assertNotIn("message", self.call("pattern", "m.readPattern(a[0])", text), text)
        self.assertEqual(self.call("pattern", "m.readPattern('['.repeat(5000)).line"), 1)

    def test_chips_write_the_pattern(self):
        on = self.call("pattern", "m.toggled({ type: ['x'] }, ['data', 'vendor'], 'braze')")
        self.assertEqual(on, {"type": ["x"], "data": {"vendor": ["braze"]}})
        self.assertTrue(self.call("pattern", "m.has(a[0], ['data', 'vendor'], 'braze')", on))
        self.assertEqual(self.call("pattern", "m.toggled(a[0], ['data', 'vendor'], 'braze')", on), {"type": ["x"]})
        self.assertIsNone(self.call("pattern", "m.toggled({ a: ['b'] }, ['a'], 'b')"))

    def test_differences_have_pointers(self):
        found = self.call("origin", "m.differences({ a: 1, 'b/c': [1, 2] }, { a: 1, 'b/c': [1], d: null })")
        self.assertEqual([row["pointer"] for row in found], ["/b~1c/1", "/d"])

    def test_a_command_has_no_secret_and_quotes_the_payload(self):
        made = self.call("event", "m.curl('http://127.0.0.1:1/', 'mobile', `it's`, false)")
        self.assertIn("$SIGNALBOX_SOURCE_TOKEN", made)
        self.assertIn("'it'\\''s'", made)

    def test_keyed_elements_keep_the_focus(self):
        value = self.call("h", """(() => {
            const root = document.createElement('div');
            document.body.append(root);
            const draw = (keys) => m.render(root, keys.map((key) => m.h('button', { key }, key)));
            draw(['a', 'b', 'c']);
            root.children[1].focus();
            const node = root.children[1];
            draw(['x', 'b', 'a']);
            const result = [[...root.children].map((child) => child.textContent).join(), document.activeElement === node];
            root.remove();
            return result;
        })()""")
        self.assertEqual(value, ["x,b,a", True])

    def test_a_module_of_another_version_is_not_reported_as_no_answer(self):
        self.assertEqual(self.call("api", "[new SyntaxError('x'), new TypeError('x')].map((e) => "
                                   "m.notLoaded(e).problem.code)"), ["console-updated", "no-answer"])

    def test_numbers_have_separators(self):
        for number, shown in [(0, "0"), (999, "999"), (1000, "1,000"), (12304, "12,304"), (1234567, "1,234,567"),
                              (0.5, "0.5"), (1234.56789, "1,234.568"), (-1000, "-1,000"), (None, "–")]:
            self.assertEqual(self.call("text", "m.count(a[0])", number), shown)

    def test_long_integers_keep_their_digits(self):
        text = ('{"a":9007199254740993,"b":"x\\\\\\" 12345678901234567890, \\\\","c":[-9223372036854775808,1.5,9007199254740991],'
                '"12345678901234567890":{"d":[18446744073709551615]}}')
        # The same members with strings in place of the long integers.
        strings = json.loads(text, parse_int=lambda digits: digits if abs(int(digits)) >= 2 ** 53 else int(digits))
        self.assertEqual(self.call("text", "JSON.parse(JSON.stringify(m.readJSON(a[0]), (_, item) => "
                                   "typeof item === 'bigint' ? String(item) : item))", text), strings)
        written = self.call("text", "m.writeJSON(m.readJSON(a[0]), 2)", text)
        self.assertEqual(json.loads(written), json.loads(text))
        self.assertIsNone(self.call("text", "m.writeJSON(undefined) ?? null"))
        self.assertEqual(self.call("origin", "m.differences({ a: 9007199254740993n }, { a: 9007199254740993n }).length"), 0)
        self.assertEqual(self.call("routes", "JSON.parse(m.asRoute({ a: [9007199254740993n] }, 'crm')).match.a.length"), 1)

    def test_a_list_that_is_cut_says_so(self):
        self.assertEqual(self.call("ui", "m.first(['a', 'b', 'c', 'd'], 2, (word) => word)[0]"), ["a", "b"])
        self.assertEqual(self.call("ui", "m.first(['a', 'b', 'c', 'd'], 2, (word) => word)[1].children"), ["and 2 more"])
        self.assertIsNone(self.call("ui", "m.first(['a', 'b'], 2, (word) => word)[1]"))

    def test_numbers_agree_with_their_nouns(self):
        for number, shown in [(0, "0 routes"), (1, "1 route"), (2, "2 routes"), (1001, "1,001 routes")]:
            self.assertEqual(self.call("text", "m.several(a[0], 'route')", number), shown)
        self.assertEqual(self.call("text", "[1, 2].map((n) => m.several(n, 'delivery waits', 'deliveries wait'))"),
                         ["1 delivery waits", "2 deliveries wait"])

    def test_times_name_their_zone(self):
        self.call("text", "m.prefer({ zone: 'utc' })")
        self.assertEqual(self.call("text", "m.timeText('2026-01-02T03:04:05.678Z')"), "2026-01-02 03:04:05 UTC")
        self.call("text", "m.prefer({ zone: 'local' })")
        self.assertRegex(self.call("text", "m.timeText('2026-01-02T03:04:05Z')"), r"^2026-01-0\d \d\d:\d\d:\d\d [+−]\d\d:\d\d$")
        self.assertEqual(self.call("text", "m.timeText('not a time')"), "not a time")


if __name__ == "__main__":
    unittest.main()
