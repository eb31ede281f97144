import Testing

@testable import SignalboxInApp

@Suite struct TriggerWorkTests {
    private func message(_ id: MessageID, conditions: Int, on name: String = "buy") throws -> Definition {
        let groups = (0..<conditions).map { [Filter.Condition("p\($0)", .exists)] }
        let trigger = MessageTrigger.event(name: name, filter: Filter(groups))
        return try Definition(Message(id: id, vendor: "own", kind: .modal, triggers: [.sessionStart, trigger]))
    }

    @Test func aTriggerHasABoundOfWork() throws {
        var index = MessageIndex()
        let fitting = Bounds.workPerTrigger / 50
        for number in 0..<fitting { index.register(try message("m-\(number)", conditions: 40)) }
        #expect(index.excess(of: try message("one more", conditions: 0)) == 0, "all of them have a session start too")
        #expect(index.excess(of: try message("m-0", conditions: 40)) == nil, "replaces its former revision")
        #expect(index.excess(of: try message("m-0", conditions: 41)) == 0)
        index.withdraw("m-7")
        #expect(index.excess(of: try message("one more", conditions: 40)) == nil)
    }

    @Test func namesTheCrowdedTrigger() throws {
        var index = MessageIndex()
        for number in 0..<(Bounds.workPerTrigger / 10) {
            index.register(
                try Definition(
                    Message(
                        id: "m-\(number)", vendor: "own", kind: .modal, triggers: [.event(name: "buy", filter: nil)])))
        }
        #expect(index.excess(of: try message("one more", conditions: 0)) == 1)
        #expect(index.excess(of: try message("one more", conditions: 0, on: "sell")) == nil)
    }

    @Test func aTextPatternWeighsMoreThanAComparison() throws {
        let pattern = Filter.Comparison.matches(try TextPattern("a{20}"))
        let filter = Filter([[Filter.Condition("p", pattern)]])
        let definition = try Definition(
            Message(id: "m", vendor: "own", kind: .modal, triggers: [.event(name: "buy", filter: filter)]))
        #expect(definition.weight > 100)
    }

    /// Each event of a device is compared with the "unless" triggers of its waiting messages.
    @Test func anUnlessTriggerWeighsAsMuchAsATrigger() throws {
        let filter = Filter((0..<40).map { [Filter.Condition("p\($0)", .exists)] })
        var message = Message(id: "m", vendor: "own", kind: .modal, triggers: [buy])
        message.unless = [.event(name: "paid", filter: filter)]
        #expect(try Definition(message).weight == 50)
    }

    /// Each instruction may see each character.
    @Test func aTextPatternWeighsItsWorkInAText() throws {
        for (source, size) in [("sale", 5), ("[a-bd-eg-hj-k]{8}", 9), ("(red|blue)", 10)] {
            let pattern = try TextPattern(source)
            #expect(pattern.size == size)
            let filter = Filter([[Filter.Condition("p", .matches(pattern))]])
            #expect(filter.weight == 1 + 12 * size)
        }
    }
}
