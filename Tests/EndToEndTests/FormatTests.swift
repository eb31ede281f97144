import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct FormatTests {
    private let payload = Data(
        #"{"aps":{"alert":{"title":"Grüße \"aus\" Boston","body":"There"}},"issuer":"Synerise","message-type":"static-content","content-type":"simple-push","content":{"notification":{}}}"#
            .utf8)

    private static func config(to url: String) -> String {
        func destination(_ name: String, _ settings: String) -> String {
            "\"\(name)\": { \"url\": \"\(url)/\(name)\", \"secret\": \"env:WEBHOOK_SECRET\", \(settings) }"
        }
        let template = #"{"text": "{{data.content.title}}", "vendor": "{{data.vendor}}"}"#
            .replacing("\"", with: "\\\"")
        return """
            { "gateway": { "name": "test" }, "egress": { "allow": ["127.0.0.0/8"] },
              "destinations": { \([
                destination("cloudevents", #""format": "cloudevents""#),
                destination("cloudevents-binary", #""format": "cloudevents-binary""#),
                destination("cloudevents-batch", #""format": "cloudevents-batch", "compression": "gzip""#),
                destination("standard-webhooks", #""format": "standard-webhooks", "compression": "gzip""#),
                destination("template", "\"format\": \"template\", \"template\": { \"body\": \"\(template)\" }"),
              ].joined(separator: ",\n")) },
              "fallback": ["cloudevents", "cloudevents-binary", "cloudevents-batch", "standard-webhooks", "template"] }
            """
    }

    @Test func everyFormatArrivesSigned() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: Self.config(to: receiver.url))
                let id = try #require(try await gateway.post(payload).json["id"] as? String)
                var messages: [String: WebhookReceiver.Message] = [:]
                for message in await receiver.next(5) {
                    let format = String(message.path.dropFirst("/hooks/".count))
                    messages[format] = message
                    #expect(message.id == id)
                    #expect(message.header("signalbox-attempt") == "1")
                    try MessageRecorder.record(
                        format: format, headers: message.headers, body: message.body, secret: Gateway.secret)
                }
                let types = messages.mapValues { $0.header("content-type") }
                #expect(
                    types == [
                        "cloudevents": "application/cloudevents+json", "cloudevents-binary": "application/json",
                        "cloudevents-batch": "application/cloudevents-batch+json",
                        "standard-webhooks": "application/json", "template": "application/json",
                    ])
                let encoded = messages.filter { $0.value.header("content-encoding") == "gzip" }.map(\.key)
                #expect(encoded.sorted() == ["cloudevents-batch", "standard-webhooks"])
                #expect(messages["cloudevents-binary"]?.header("ce-id") == id)
                #expect(messages["cloudevents-binary"]?.header("ce-subject") == "synerise/alert")
                #expect(
                    String(decoding: messages["template"]?.body ?? [], as: UTF8.self)
                        == #"{"text": "Grüße \"aus\" Boston", "vendor": "synerise"}"#)
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func listenVerifiesCompressedBodies() async throws {
        try await withTemporaryDirectory { directory in
            let listener = try binary.start(
                ["listen", "--listen", "127.0.0.1:0"], environment: ["WEBHOOK_SECRET": Gateway.secret])
            let url = try #require(await listener.listeningURL())
            let config = Gateway.config(to: url).replacing("\"retry\"", with: "\"compression\": \"gzip\", \"retry\"")
            let gateway = try await Gateway.start(in: directory, config: config)
            _ = try await gateway.post(payload)
            var shown: [String] = []
            for await line in listener.output.stream {
                shown.append(line)
                if line.contains("answering") { break }
            }
            #expect(shown.first?.hasPrefix("synerise/alert  Grüße") == true)
            #expect(shown.last?.contains("signature verified; answering 204") == true)
            #expect(await gateway.stop() == 0)
            listener.signal(SIGTERM)
            #expect(await listener.end() == 0)
        }
    }

    @Test func aBadTemplateKeepsTheGatewayFromStarting() async throws {
        try await withTemporaryDirectory { directory in
            let config = """
                { "destinations": { "crm": { "url": "https://crm.example/", "secret": "env:WEBHOOK_SECRET",
                    "format": "template", "template": { "file": "crm.mustache" } } },
                  "fallback": ["crm"] }
                """
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            try Data("{\n  \"id\": \"{{id\"\n}\n".utf8).write(to: URL(fileURLWithPath: directory + "/crm.mustache"))
            let result = try await binary.run(
                ["serve", "--listen", "127.0.0.1:0"], in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
            #expect(result.status == 2)
            #expect(result.errors.contains("/destinations/crm/template/file: line 2, column 14 of the template"))
            #expect(result.errors.contains("in crm.mustache: this tag is malformed"))
        }
    }
}
