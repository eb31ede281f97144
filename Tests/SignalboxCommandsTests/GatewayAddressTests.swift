import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxServerTesting
import Testing

@testable import SignalboxServer

@Suite(.timeLimit(.minutes(5))) struct GatewayAddressTests {
    @Test func theOptionPrecedesTheEnvironment() throws {
        let environment = ["SIGNALBOX_URL": "https://push.example.com/", "SIGNALBOX_LISTEN": "0.0.0.0:9"]
        #expect(try GatewayURL.read("http://10.0.0.1:1", environment).root == "http://10.0.0.1:1")
        #expect(try GatewayURL.read(nil, environment).root == "https://push.example.com")
        #expect(try GatewayURL.read(nil, ["SIGNALBOX_URL": ""]).root == "http://127.0.0.1:8080")
    }

    @Test(arguments: [
        ("0.0.0.0:8081", "http://127.0.0.1:8081"), (":8081", "http://127.0.0.1:8081"),
        ("[::]:8081", "http://[::1]:8081"), ("10.1.2.3:80", "http://10.1.2.3:80"),
        ("127.0.0.1:0", "http://127.0.0.1:8080"),
    ])
    func theAddressToListenOnLeadsToTheGateway(_ listen: String, _ url: String) throws {
        #expect(try GatewayURL.read(nil, ["SIGNALBOX_LISTEN": listen]).root == url)
    }

    /// `serve` refuses it too. The commands asked port 8080 instead, where another gateway may answer.
    @Test func anInvalidAddressToListenOnIsRefused() throws {
        let environment = ["SIGNALBOX_LISTEN": "0.0.0.0"]
        let sentence =
            "Invalid SIGNALBOX_LISTEN 0.0.0.0: write it as 127.0.0.1:8080 or [::1]:8080, or name the gateway's address "
            + "with --url."
        #expect(throws: CommandFailure.refused(sentence)) { try GatewayURL.read(nil, environment) }
        #expect(try GatewayURL.read("http://10.0.0.1:1", environment).root == "http://10.0.0.1:1")
    }

    @Test(arguments: ["http://ann:secret@example.com", "http://example.com/?token=secret"])
    func aSecretIsNotRepeated(address: String) {
        #expect {
            try GatewayURL.read(address, [:])
        } throws: {
            guard case CommandFailure.refused(let sentence) = $0 else { return false }
            return !sentence.contains("secret") && sentence.contains("Invalid gateway address")
        }
    }

    @Test func tokensComeFromReferences() throws {
        let environment = ["A": "one", "B": "two"]
        #expect(try CommandToken.read("env:A", option: "--token", variable: "B", environment) == "one")
        #expect(try CommandToken.read(nil, option: "--token", variable: "B", environment) == "two")
        #expect(try CommandToken.read(nil, option: "--token", variable: "C", environment) == nil)
        #expect(throws: CommandFailure.self) {
            try CommandToken.read("env:C", option: "--token", variable: nil, environment)
        }
        #expect {
            try CommandToken.read("pasted", option: "--token", variable: "B", environment)
        } throws: {
            guard case CommandFailure.refused(let sentence) = $0 else { return false }
            return !sentence.contains("pasted") && sentence.hasPrefix("--token: a token on the command line is visible")
        }
    }

    @Test func aGatewayThatCannotBeReachedIsNotReady() async throws {
        let connection = GatewayConnection(try GatewayURL.read("http://127.0.0.1:1", [:]), token: nil)
        defer { connection.stop() }
        let answer = await ReadinessCheck(connection, timeout: .seconds(5)).ask()
        guard case .notReady(let reason) = answer else {
            Issue.record("Nobody listens on port 1.")
            return
        }
        #expect(reason.hasPrefix("Cannot reach http://127.0.0.1:1: "))
        #expect(answer.json(connection).hasPrefix(#"{"ready":false,"url":"http://127.0.0.1:1","reason":"#))
    }

    @Test(arguments: ["<html>", #"{"status":"UP"}"#])
    func aServerThatAnswersEveryPathIsNotReady(_ body: String) async throws {
        let reply = #"HTTP/1.1 200 OK\r\ncontent-length: \#(body.utf8.count)\r\n\r\n"# + body
        let answer = try await Peer.run(["canned", "--reply", reply]) { peer in
            let connection = GatewayConnection(try GatewayURL.read("http://127.0.0.1:\(peer.port)", [:]), token: nil)
            defer { connection.stop() }
            return await ReadinessCheck(connection, timeout: .seconds(60)).ask()
        }
        guard case .notReady(let reason) = answer else {
            Issue.record("The server is not a gateway.")
            return
        }
        #expect(reason.hasSuffix("answered 200, but not as a Signalbox gateway does; check the address."))
    }

    /// The second connection, which would be one too many, ends the command.
    @Test(arguments: ["<html>", ""]) func aServerThatSendsNoStreamHasNoTail(_ body: String) async throws {
        let reply = #"HTTP/1.1 200 OK\r\ncontent-length: \#(body.utf8.count)\r\n\r\n"# + body
        try await Peer.run(["canned", "--reply", reply]) { peer in
            let connection = GatewayConnection(try GatewayURL.read("http://127.0.0.1:\(peer.port)", [:]), token: nil)
            do throws(CommandFailure) {
                try await LiveTail(connection, LiveTail.Request()).run(
                    asJSON: false, show: { _ in }, warn: { _ in connection.stop() })
                Issue.record("The server is not a gateway.")
            } catch {
                guard case .refused(let reason) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(reason.hasSuffix("answered 200, but not as a Signalbox gateway does; check the address."))
            }
        }
    }

    /// The connection to a gateway that vanished, or that hangs, may stay open.
    @Test func aStreamWithoutAByteIsLost() async throws {
        let head = #"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"#
        try await Peer.run(["canned", "--reply", head + #"d\r\n: connected\n\n\r\n"#]) { peer in
            let connection = GatewayConnection(try GatewayURL.read("http://127.0.0.1:\(peer.port)", [:]), token: nil)
            var warnings: [String] = []
            await #expect(throws: CommandFailure.interrupted) {
                try await LiveTail(connection, LiveTail.Request(), silence: 1).run(
                    asJSON: false, show: { _ in },
                    warn: {
                        warnings.append($0)
                        connection.stop()
                    })
            }
            #expect(warnings == ["The gateway sent nothing for 1 s; reconnecting."])
        }
    }

    @Test func aGatewayThatNeverAnswersCannotBeReached() async throws {
        try await Peer.run(["mute"]) { peer in
            let connection = GatewayConnection(try GatewayURL.read("http://127.0.0.1:\(peer.port)", [:]), token: nil)
            defer { connection.stop() }
            do throws(CommandFailure) {
                try await LiveTail(connection, LiveTail.Request(), silence: 1).run(
                    asJSON: false, show: { _ in }, warn: { _ in })
                Issue.record("The server sends nothing.")
            } catch {
                guard case .refused(let reason) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(reason.hasPrefix("Cannot reach http://127.0.0.1:\(peer.port): timed out waiting for the reply"))
            }
        }
    }

    /// The command must neither succeed nor ask again and again.
    @Test(arguments: [("202 Accepted", "{}"), ("200 OK", "<html>"), ("502 Bad Gateway", "<html>")])
    func aServerThatSendsNoReceiptRefuses(_ status: String, _ body: String) async throws {
        let reply = #"HTTP/1.1 \#(status)\r\ncontent-length: \#(body.utf8.count)\r\n\r\n"# + body
        try await Peer.run(["canned", "--reply", reply]) { peer in
            let connection = GatewayConnection(try GatewayURL.read("http://127.0.0.1:\(peer.port)", [:]), token: nil)
            defer { connection.stop() }
            do throws(CommandFailure) {
                _ = try await SampleSender(connection, source: nil).send(SamplePayloads.payload(of: "braze", nil))
                Issue.record("The server is not a gateway.")
            } catch {
                guard case .refused(let reason) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(reason.hasSuffix("but not as a Signalbox gateway does; check the address."))
            }
        }
    }

    @Test func aServerThatListsNoCapturesIsRefused() async throws {
        let reply = #"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"#
        try await Peer.run(["canned", "--reply", reply]) { peer in
            let connection = GatewayConnection(try GatewayURL.read("http://127.0.0.1:\(peer.port)", [:]), token: nil)
            defer { connection.stop() }
            let sentence = "The server answered 200, but not as a Signalbox gateway does; check the address."
            await #expect(throws: CommandFailure.refused(sentence)) {
                try await CaptureRun(connection, CaptureRequest(), until: nil, timeout: .zero).run(
                    onlyNew: false, asJSON: false, print: { _ in })
            }
        }
    }

    @Test func forwardsWebhooksUnchanged() async throws {
        try await ReceivingServer.run(answer: { _ in 422 }) { receiver in
            let forwarder = try WebhookForwarder(receiver.url)
            defer { forwarder.stop() }
            let message = WebhookReceiver.Message(
                path: "/", body: [1, 2, 3],
                headers: [
                    ("webhook-id", "m1"), ("content-type", "text/x"), ("connection", "close, X-Hop"), ("host", "a"),
                    ("x-hop", "1"),
                ])
            let result = await forwarder.forward(message)
            #expect(result.status == 422 && result.remark == "forwarded")
            let received = try #require(await receiver.next().first)
            #expect(received.body == [1, 2, 3])
            #expect(received.id == "m1" && received.header("content-type") == "text/x")
            #expect(received.header("host") != "a" && received.header("x-hop") == nil)
        }
    }

    @Test func answers502WhenTheApplicationIsDown() async throws {
        let forwarder = try WebhookForwarder("http://127.0.0.1:1/")
        defer { forwarder.stop() }
        let result = await forwarder.forward(WebhookReceiver.Message(path: "/", body: [], headers: []))
        #expect(result.status == 502 && result.remark.hasPrefix("cannot forward: "))
    }

    @Test(arguments: ["ftp://x", "nonsense", "http://ann:secret@x/"]) func refusesOtherAddresses(_ url: String) {
        #expect {
            try WebhookForwarder(url)
        } throws: {
            guard case CommandFailure.refused(let sentence) = $0 else { return false }
            return !sentence.contains("secret")
        }
    }
}
