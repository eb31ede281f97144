import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// The log of the built binary.
@Suite(.timeLimit(.minutes(2))) struct LogFormatTests {
    private func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }

    @Test(arguments: [(["--log-format", "json"], [:]), ([], ["SIGNALBOX_LOG_FORMAT": "json"])])
    func everyLineOfTheLogIsAJSONObject(_ arguments: [String], _ environment: [String: String]) async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 400 }) { receiver in
                let gateway = try await Gateway.start(
                    in: directory, config: Gateway.config(to: receiver.url),
                    arguments: ["--log-level", "debug"] + arguments,
                    environment: environment)
                let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
                let (status, receipt) = try await gateway.post(
                    Data(#"{"aps":{"alert":"Hi"}}"#.utf8), headers: [("traceparent", "00-\(trace)-00f067aa0ba902b7-00")]
                )
                #expect(status == 202)
                _ = await receiver.next()
                // The message of this mistake has quotation marks, the key a line end.
                try Data(#"{"a \"b\"\nc": 1}"#.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
                gateway.process.signal(SIGHUP)
                var text = ""
                for await line in gateway.process.errors.stream {
                    text += line + "\n"
                    if line.contains("Config rejected") { break }
                }
                #expect(await gateway.stop() == 0)
                let lines = try objects(text + (await gateway.process.errors.text()))
                for line in lines {
                    #expect(line["time"] is String && line["level"] is String && line["message"] is String)
                    #expect(line["target"] is String && line["fields"] is [String: String])
                }
                let mistake = try #require(lines.first { $0["message"] as? String == "Configuration problem." })
                let problem = try #require((mistake["fields"] as? [String: String])?["problem"])
                #expect(problem.contains("there is no setting \""))
                let dead = try #require(lines.first { $0["message"] as? String == "Delivery moved to dead letters." })
                #expect(dead["level"] as? String == "warning" && dead["target"] as? String == "gateway")
                #expect(dead["trace_id"] as? String == trace)
                let fields = try #require(dead["fields"] as? [String: String])
                #expect(fields["destination"] == "crm" && fields["event"] == receipt["id"] as? String)
                #expect(fields["reason"] == "answered 400" && fields["trace_id"] == nil)
            }
        }
    }

    @Test func rejectsAnUnknownFormat() async throws {
        try await withTemporaryDirectory { directory in
            let flag = try await binary.run(["serve", "--log-format", "xml"], in: directory)
            #expect(flag.status == 64)
            #expect(flag.errors.contains("Unknown log format xml"))
            let variable = try await binary.run(
                ["serve"], in: directory, environment: ["SIGNALBOX_LOG_FORMAT": "xml"])
            #expect(variable.errors.contains("SIGNALBOX_LOG_FORMAT is not a log format: xml."))
        }
    }
}
