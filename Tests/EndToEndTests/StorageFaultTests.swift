import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// If the disk rejects writes, senders get an error. Acknowledged events are delivered once, and the gateway recovers.
@Suite(.timeLimit(.minutes(15))) struct StorageFaultTests {
    private let payload = Data(#"{"aps":{"alert":{"title":"Hi","body":"There"}}}"#.utf8)

    // MARK: While it runs

    @Test(.enabled("needs a file system of its own") { await Namespace.isAllowed })
    func aFullDiskRejectsAndLosesNoEvent() async throws {
        try await outlives("the disk is full", behind: Namespace.diskOf(kilobytes: 2048)) { gateway, during in
            let filler = Namespace.path(gateway.directory + "/data/filler", of: gateway.process)
            try fill(filler)
            try await during()
            try FileManager.default.removeItem(atPath: filler)
        }
    }

    /// A quota has the same effect.
    @Test func aFileSizeLimitRejectsAndLosesNoEvent() async throws {
        try await outlives("disk I/O error") { gateway, during in
            try limitFiles(of: gateway.process, to: "4096")
            try await during()
            try limitFiles(of: gateway.process, to: "unlimited")
        }
    }

    @Test func aLockedFileRejectsAndLosesNoEvent() async throws {
        try await outlives("database is locked") { gateway, during in
            try await QueueFile(gateway.directory + "/data/queue.db").locked(during)
        }
    }

    /// `fault` causes the fault, calls its argument, and ends the fault.
    private func outlives(
        _ reason: String, behind command: [String] = [],
        _ fault: @escaping @Sendable (Gateway, _ during: () async throws -> Void) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let first = HeldAnswer()
            try await ReceivingServer.run(answer: first.answer) { receiver in
                try FileManager.default.createDirectory(
                    atPath: directory + "/data", withIntermediateDirectories: true)
                let gateway = try await Gateway.start(
                    in: directory, config: Gateway.config(to: receiver.url), behind: command)
                var accepted = [try await gateway.post(payload).json["id"] as? String]
                var arrived = await receiver.next().map(\.id)
                try await fault(gateway) {
                    // The outcome of this attempt cannot be recorded.
                    first.release()
                    try await expectRefusal(by: gateway, reason)
                    for await line in gateway.process.errors.stream {
                        if line.contains("Cannot record outcomes") { break }
                    }
                }
                let next = try await gateway.post(payload)
                #expect(next.status == 202, "\(next.json)")
                accepted.append(next.json["id"] as? String)
                arrived += await receiver.next().map(\.id)
                while try await gateway.get("/readyz").status != 200 { await Task.yield() }
                while try await gateway.get("/v1/deliveries").text.contains(#""state":"waiting""#) {}
                let inside = command.isEmpty ? [] : Namespace.of(gateway.process)
                let audit = try await binary.run(["audit"], in: directory, behind: inside)
                #expect(audit.output.hasSuffix("Ledger consistent.\n"), "\(audit.errors)")
                let list = try await gateway.get("/v1/deliveries?state=delivered").text
                #expect(list.contains(#""id":2"#) && !list.contains(#""id":3"#), "nothing of what was refused")
                #expect(await gateway.stop() == 0)
                #expect(arrived == accepted, "each once")
                #expect(first.count == 2)
            }
        }
    }

    private func expectRefusal(by gateway: Gateway, _ reason: String) async throws {
        let refused = try await gateway.post(payload)
        #expect(refused.status == 503)
        #expect(refused.json["code"] as? String == "queue-unavailable")
        #expect((refused.json["detail"] as? String ?? "").contains(reason))
        // Readiness is cached for a second.
        while try await gateway.get("/readyz").status != 503 { await Task.yield() }
        #expect(try await gateway.get("/healthz").status == 200)
    }

    /// A queue restored from a copy delivers everything accepted before the copy.
    @Test func reportsAFileThatIsDamagedWhileItRuns() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/pause").status == 200)
                var accepted: Set<String?> = []
                for _ in 0..<20 { accepted.insert(try await gateway.post(payload).json["id"] as? String) }
                let file = directory + "/data/queue.db"
                try await QueueFile(file).damage(keeping: directory + "/copy.db")

                let refused = try await gateway.post(payload)
                #expect(refused.status == 503)
                #expect(refused.json["code"] as? String == "queue-unavailable")
                #expect(!(refused.json["detail"] as? String ?? file).contains("queue.db"), "a sender's business")
                while try await gateway.get("/readyz").status != 503 { await Task.yield() }
                #expect(await gateway.stop() == 0)
                let sentence = try await binary.run(
                    ["serve"], in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
                #expect(sentence.status == 2)
                #expect(sentence.errors.contains("The queue data/queue.db cannot be read: database disk image is malf"))

                for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
                try FileManager.default.copyItem(atPath: directory + "/copy.db", toPath: file)
                let restored = try await Gateway.start(in: directory)
                #expect(try await restored.post(Data(), to: "/v1/destinations/crm/resume").status == 200)
                #expect(Set(await receiver.next(20).map(\.id)) == accepted)
                #expect(await restored.stop() == 0)
                #expect(try await binary.run(["audit"], in: directory).status == 0)
            }
        }
    }

    /// Deliveries on other pages are made, no event is accepted, and a stop completes.
    @Test func reportsADamagedPageAndStillStops() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                var gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/pause").status == 200)
                let text = String(repeating: "a", count: 3000)
                for _ in 0..<20 {
                    _ = try await gateway.post(Data(#"{"aps":{"alert":"\#(text)"}}"#.utf8))
                }
                #expect(await gateway.stop() == 0)
                try await QueueFile(directory + "/data/queue.db").damageLeaf(of: "events")

                gateway = try await Gateway.start(in: directory)
                while try await gateway.get("/readyz").status != 503 { await Task.yield() }
                let refused = try await gateway.post(payload)
                #expect(refused.status == 503)
                #expect(refused.json["code"] as? String == "queue-unavailable")
                #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/resume").status == 200)
                // At most two events share a page.
                #expect(await receiver.next(18).count == 18)
                #expect(await gateway.stop() == 0)
                let audit = try await binary.run(["audit"], in: directory)
                #expect(audit.status == 1)
                #expect(audit.errors.contains("The store is damaged"))
            }
        }
    }

    // MARK: At the start

    @Test func refusesToStartWithoutItsQueue() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"{ "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [] }"#
            var gateway = try await Gateway.start(in: directory, config: config)
            #expect(try await gateway.post(payload).status == 202)
            #expect(await gateway.stop() == 0)
            for name in ["queue.db", "queue.db-wal"] {
                try FileManager.default.removeItem(atPath: directory + "/data/" + name)
            }
            for command in [["serve", "--listen", "127.0.0.1:0"], ["audit"]] {
                let refused = try await binary.run(command, in: directory)
                #expect(refused.status == 2)
                #expect(refused.errors.contains("queue.id is there, but queue.db is missing or empty"))
                #expect(refused.errors.contains("--accept-queue-loss"))
            }
            gateway = try await Gateway.start(in: directory, arguments: ["--accept-queue-loss"])
            #expect(try await gateway.post(payload).status == 202)
            #expect(await gateway.stop() == 0)
            gateway = try await Gateway.start(in: directory)
            #expect(await gateway.stop() == 0)
            #expect(try await binary.run(["audit"], in: directory).status == 0)
        }
    }

    /// Only the lock shows that a gateway is running.
    @Test func pruneReportsAnUnusableDirectory() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"{ "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [] }"#
            let gateway = try await Gateway.start(in: directory, config: config)
            let running = try await binary.run(["media", "prune"], in: directory)
            #expect(running.status == 0)
            #expect(running.output.contains("the running gateway"))
            #expect(await gateway.stop() == 0)
            try FileManager.default.removeItem(atPath: directory + "/data/lock")
            try FileManager.default.createDirectory(
                atPath: directory + "/data/lock", withIntermediateDirectories: false)
            let refused = try await binary.run(["media", "prune"], in: directory)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("cannot be used: Is a directory"))
        }
    }

    @Test(.enabled("needs a file system of its own") { await Namespace.isAllowed })
    func refusesToStartOnAFullOrReadOnlyDisk() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                var gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/pause").status == 200)
                let id = try await gateway.post(payload).json["id"] as? String
                #expect(await gateway.stop() == 0)
                // A supervisor starts the gateway again after 75, not after 2.
                for (command, code, sentence) in [
                    (Namespace.diskOf(kilobytes: 64), 75, "The queue cannot be used: the disk is full."),
                    (Namespace.diskOf(kilobytes: 16), 75, "The queue cannot be used: "),
                    (Namespace.readOnly, 2, "The data directory data cannot be used: Read-only file system."),
                ] as [([String], Int32, String)] {
                    let refused = try await binary.run(
                        ["serve", "--listen", "127.0.0.1:0"], in: directory,
                        environment: ["WEBHOOK_SECRET": Gateway.secret], behind: command)
                    #expect(refused.status == code)
                    #expect(refused.errors.contains(sentence), "\(refused.errors)")
                }
                gateway = try await Gateway.start(in: directory)
                #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/resume").status == 200)
                #expect(await receiver.next().map(\.id) == [id])
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func refusesToStartOnALockedFile() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"{ "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [] }"#
            let gateway = try await Gateway.start(in: directory, config: config)
            #expect(await gateway.stop() == 0)
            try await QueueFile(directory + "/data/queue.db").locked {
                let refused = try await binary.run(["serve", "--listen", "127.0.0.1:0"], in: directory)
                #expect(refused.status == 75)
                #expect(refused.errors == "signalbox: The queue cannot be used: database is locked.\n")
            }
        }
    }

    // MARK: Faults

    private func fill(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let block = [UInt8](repeating: 0, count: 4096)
        while write(file, block, block.count) > 0 {}
        #expect(errno == ENOSPC)
    }

    /// No file grows beyond `size`, in bytes, when the process writes it.
    private func limitFiles(of process: RunningBinary, to size: String) throws {
        let command = try Process.run(
            URL(fileURLWithPath: "/usr/bin/prlimit"),
            arguments: ["--pid", "\(process.identifier)", "--fsize=\(size):unlimited"])
        command.waitUntilExit()
        try #require(command.terminationStatus == 0)
    }
}
