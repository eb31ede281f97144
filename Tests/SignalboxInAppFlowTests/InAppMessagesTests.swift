import SignalboxInApp
import SignalboxNotification
import SignalboxRouting
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct InAppMessagesTests {
    @Test func anEqualMessageKeepsItsRevision() async throws {
        let setting = try await InAppSetting()
        #expect(try await setting.register("spring").stored.revision == 1)
        setting.clock.advance(by: 3600)
        #expect(try await setting.register("spring").stored.revision == 1)
        #expect(try await setting.register("spring", #","rank":200"#).stored.revision == 2)
    }

    /// A vendor's default end counts from the registration.
    @Test func anEqualMessageWithADefaultEndKeepsItsRevision() async throws {
        let setting = try await InAppSetting()
        let body = Array(#"{"vendor":"mce","kind":"banner","triggers":[{"type":"rule","keyword":"a"}]}"#.utf8)
        let first = try await setting.flow.register(body, as: "mce:1")
        setting.clock.advance(by: 86_400)
        let again = try await setting.flow.register(body, as: "mce:1")
        #expect(again.stored.revision == 1 && again.stored.registration.end == first.stored.registration.end)
    }

    @Test func aWithdrawnMessageIsNotOffered() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        for _ in 0..<2 { #expect(try await setting.flow.withdraw("spring").stored.withdrawnAt != nil) }
        #expect(try await setting.buy().offer == nil)
        #expect(try await setting.register("spring").stored.revision == 2)
        #expect(try await setting.buy().message == "spring")
        guard case .unknownMessage = try await failure({ try await setting.flow.withdraw("none") }) else {
            Issue.record("accepted")
            return
        }
    }

    /// The revisions of an id begin anew after its removal.
    @Test func aRemovedIdHasItsNewContent() async throws {
        for revisions in [1, 3] {
            let setting = try await InAppSetting()
            for number in 0..<revisions { try await setting.register("spring", #","rank":\#(number)"#) }
            #expect(try await setting.buy()["offer"]["message"]["content"]["title"].text == "spring")
            setting.store.remove(message: "spring")
            setting.clock.advance(by: 86_400)
            let body =
                #"{"vendor":"own","kind":"modal","triggers":[{"type":"event","name":"buy"}],"content":{"title":"new"}}"#
            let stored = try await setting.flow.register(Array(body.utf8), as: "spring").stored
            #expect(stored.revision == 1)
            let reads = setting.store.with { $0.reads }
            for device in ["d-2", "d-3"] {
                let answer = try await setting.buy(on: device, by: nil)
                #expect(answer["offer"]["message"]["content"]["title"].text == "new")
            }
            #expect(setting.store.with { $0.reads } == reads + 1, "kept for the second device")
        }
    }

    @Test func aRestartReadsEveryMessage() async throws {
        let setting = try await InAppSetting()
        for number in 0..<150 { try await setting.register("m-\(number)", #","rank":\#(number)"#) }
        let messages = InAppMessages(Policy())
        try await messages.follow(setting.store)
        #expect(messages.counts.active == 150)
    }

    /// Commits wait while the store reports changes.
    @Test func theStoresThreadParsesNoMessage() async throws {
        let setting = try await InAppSetting()
        let messages = InAppMessages(Policy()) { _ in }
        try await messages.follow(setting.store)
        try await setting.register("spring")
        try await setting.register("summer")
        #expect(messages.waiting == 2, "stored, not parsed")
        #expect(messages.counts.active == 2, "the first reader parses them")
        #expect(messages.waiting == 0)
        _ = try await setting.flow.withdraw("spring")
        #expect(messages.snapshot.index.count == 1)
    }

    /// Many changes without a reader do not fill the memory.
    @Test func boundsTheMessagesThatWait() async throws {
        let setting = try await InAppSetting()
        let messages = InAppMessages(Policy()) { _ in }
        try await messages.follow(setting.store)
        for number in 0..<300 { try await setting.register("m-\(number)") }
        #expect(messages.waiting < 257)
        #expect(messages.counts.active == 300)
    }

    @Test func aPolicyThatDoesNotPermitAMessageSkipsIt() async throws {
        let setting = try await InAppSetting {
            $0.limits = [Limit(1, .lifetime, owner: .named("season"), name: "season")]
        }
        try await setting.register("spring", #","namedLimits":["season"]"#)
        let messages = setting.flow.shared.messages
        messages.replace(policy: Policy())
        let shown = try await setting.flow.message("spring")
        #expect(!shown.isActive && shown.fault?.code == "unknown-limit" && shown.fault?.pointer == "/namedLimits/0")
        #expect(messages.skipped?.count == 1 && messages.skipped?.first == "spring")
        #expect(try await setting.buy().offer == nil)
        guard
            case .malformed(let fault) = try await failure({
                try await setting.register("summer", #","namedLimits":["season"]"#)
            })
        else {
            Issue.record("accepted")
            return
        }
        #expect(fault.code == "unknown-limit")
        var policy = Policy()
        policy.limits = [Limit(1, .lifetime, owner: .named("season"), name: "season")]
        messages.replace(policy: policy)
        #expect(messages.skipped == nil)
        #expect(try await setting.buy().message == "spring")
    }

    @Test func boundsTheMessagesOfOneTrigger() async throws {
        let setting = try await InAppSetting()
        let heavy = (0..<40).map { #"[{"property":"p\#($0)","exists":true}]"# }.joined(separator: ",")
        let trigger = #"{"type":"event","name":"buy","filter":[\#(heavy)]}"#
        func register(_ id: String) async throws -> InAppFlow.Shown {
            let body = #"{"vendor":"own","kind":"modal","triggers":[\#(trigger)]}"#
            return try await setting.flow.register(Array(body.utf8), as: id)
        }
        for number in 0..<(Bounds.workPerTrigger / 50) { _ = try await register("m-\(number)") }
        guard case .malformed(let fault) = try await failure({ try await register("one too many") }) else {
            Issue.record("accepted")
            return
        }
        #expect(fault.code == "too-many" && fault.pointer == "/triggers/0")
        #expect(try await register("m-0").isActive, "a replacement takes the place of its former revision")
        _ = try await setting.flow.withdraw("m-1")
        #expect(try await register("one too many").isActive)
    }

    /// A request of the event loop waits for no parsing.
    @Test func readingARequestParsesNoMessage() async throws {
        let setting = try await InAppSetting()
        let messages = InAppMessages(Policy()) { _ in }
        try await messages.follow(setting.store)
        try await setting.register("spring")
        #expect(messages.settledIndex.count == 0 && messages.waiting == 1)
        #expect(messages.snapshot.index.count == 1 && messages.settledIndex.count == 1)
    }

    /// Each decision of its user loads its body.
    @Test func anAddressedMessageIsParsedOnce() async throws {
        let messages = AddressedMessages()
        func stored(_ title: String, revision: Int, at time: Instant) -> StoredInAppMessage {
            let body = #"{"vendor":"own","kind":"modal","triggers":[{"type":"sessionStart"}],"rank":\#(title)}"#
            return StoredInAppMessage(
                InAppRegistration(id: "m", body: Array(body.utf8), address: .user("u")), revision: revision,
                registeredAt: time, withdrawnAt: nil)
        }
        let first = try #require(messages.definition(of: stored("1", revision: 1, at: 0)))
        #expect(messages.definition(of: stored("1", revision: 1, at: 0)) === first)
        #expect(messages.definition(of: stored("2", revision: 2, at: 0))?.message.rank == 2)
        #expect(messages.definition(of: stored("3", revision: 2, at: 9))?.message.rank == 3, "registered again")
        #expect(messages.definition(of: stored("x", revision: 3, at: 9)) == nil)
        #expect(messages.bytes == stored("1", revision: 1, at: 0).registration.body.count)
    }

    @Test func anAddressedMessageIsForItsUserOnly() async throws {
        let setting = try await InAppSetting()
        try await setting.register("yours", #","address":{"user":"u-1"}"#)
        #expect(setting.flow.shared.messages.counts.active == 0)
        #expect(try await setting.buy(on: "d-2", by: "u-2").offer == nil)
        let answer = try await setting.buy(on: "d-1", by: "u-1")
        #expect(answer.message == "yours" && answer["offer"]["message"]["content"]["title"].text == "yours")
        #expect(try await setting.flow.message("yours").isActive)
        let cap = #","address":{"user":"u-1"},"limits":[{"count":1,"per":"everyone","window":"lifetime"}]"#
        guard case .malformed(let fault) = try await failure({ try await setting.register("capped", cap) }) else {
            Issue.record("accepted")
            return
        }
        #expect(fault.pointer == "/limits/0/per")
    }

    /// The memory for contents does not grow with the number of messages.
    @Test func readsContentsFromTheStore() async throws {
        let setting = try await InAppSetting()
        let content = String(repeating: "x", count: 100_000)
        for number in 0..<300 {
            let id = "m-\(number)"
            let body =
                #"{"vendor":"own","kind":"modal","triggers":[{"type":"event","name":"e-\#(number)"}],"content":"\#(content)"}"#
            _ = try await setting.flow.register(Array(body.utf8), as: id)
            let trigger = #"{"device":"d-\#(number)","event":{"type":"event","name":"e-\#(number)"}}"#
            let request = try setting.flow.read(
                trigger: Array(trigger.utf8), from: setting.source, mayExplain: false)
            let answer = try JSON(await setting.flow.answer(request))
            #expect(answer["offer"]["message"]["content"].text?.utf8.count == 100_000)
        }
        #expect(setting.flow.shared.contents.bytes <= 16 * 1024 * 1024)
        #expect(setting.flow.shared.contents.bytes >= 15 * 1024 * 1024)
    }

    @Test func forgetsEndedMessagesSomeTimeLater() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring", #","schedule":{"end":"2027-01-20T00:00:00Z"}"#)
        let messages = setting.flow.shared.messages
        messages.removeEnded(at: 1_800_403_200_000)
        #expect(messages.counts.active == 1)
        messages.removeEnded(at: 1_800_403_200_000 + 2 * 3_600_000)
        #expect(messages.counts.active == 0)
    }

    @Test func listsPagesInByteOrder() async throws {
        let setting = try await InAppSetting()
        for id in ["b", "a", "é", "Z"] { try await setting.register(id) }
        _ = try await setting.flow.withdraw("a")
        let ids = try await setting.flow.messages(after: nil, upTo: 10, includingWithdrawn: false)
        #expect(ids.map(\.stored.registration.id) == ["Z", "b", "é"])
        let rest = try await setting.flow.messages(after: "a", upTo: 1, includingWithdrawn: true)
        #expect(rest.map(\.stored.registration.id) == ["b"])
    }

    /// Such an id would be another row and the same message.
    @Test func rejectsANewIDThatIsNotInNormalizationFormC() async throws {
        let setting = try await InAppSetting()
        try await setting.register("\u{e9}")
        guard case .malformed(let fault) = try await failure({ try await setting.register("e\u{301}") }) else {
            Issue.record("accepted")
            return
        }
        #expect(fault.code == FormFault.Code.invalidValue && fault.detail.contains("form C"))
    }

    /// Earlier versions accepted such ids.
    @Test func replacesAStoredMessageWhoseIDIsNotInNormalizationFormC() async throws {
        let setting = try await InAppSetting()
        let body = try await setting.register("a").stored.registration.body
        let former = InAppRegistration(id: "e\u{301}", body: body, address: nil, end: nil)
        _ = try await setting.store.register(former, as: nil)
        let message = try await setting.register("e\u{301}")
        #expect(!message.isNew && message.stored.revision == 2)
    }

    @Test(arguments: ["", "a\u{0}b", "a\nb", String(repeating: "x", count: 257)])
    func rejectsAnImpossibleID(_ id: String) async throws {
        let setting = try await InAppSetting()
        guard case .malformed = try await failure({ try await setting.register(id) }) else {
            Issue.record("accepted")
            return
        }
        guard case .malformed = try await failure({ try await setting.flow.message(id) }) else {
            Issue.record("accepted")
            return
        }
    }
}
