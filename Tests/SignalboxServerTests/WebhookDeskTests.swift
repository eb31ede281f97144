import Testing

@testable import SignalboxServer

@Suite struct WebhookDeskTests {
    /// A destination's template may write line ends, or a text that is not JSON.
    @Test(arguments: [
        ("{\"a\": 1}", "{\"a\": 1}"),
        ("{ \"a\": [1,\r\n 2],\n  \"b\": \"x\\n\" }\n", "{ \"a\": [1, 2],  \"b\": \"x\\n\" }"),
        ("one\n\u{1b}[31mtwo", "\"one\\n\\u001b[31mtwo\""),
        ("", "\"\""),
    ])
    func printsEachBodyAsOneLineOfJSON(body: String, line: String) {
        #expect(WebhookDesk.line(Array(body.utf8)) == line)
    }
}
