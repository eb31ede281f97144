/// The messages for slots of one name, on one page. Slots of the same name differ by product and SKU.
struct SlotShelf {
    /// The best first.
    let definitions: [Definition]
    /// Whether each message failed for a slot of this page, by position in ``definitions``.
    var hasFailed: [Bool]
    /// Positions of the messages for one product, and of those for any.
    private var byProduct: [String: [Int]] = [:]
    private var forAny: [Int] = []

    /// `ranked`: the messages that are filed under the name, in any order.
    init(_ ranked: [(rank: Rank, definition: Definition)], name: String) {
        definitions = ranked.sorted { $0.rank < $1.rank }.map(\.definition)
        hasFailed = Array(repeating: false, count: definitions.count)
        for (place, definition) in definitions.enumerated() {
            var products: Set<String?> = []
            for case .slot(let label) in definition.message.triggers where label.name == name {
                products.insert(label.productID)
            }
            if products.contains(nil) {
                forAny.append(place)
            } else {
                for case let product? in products { byProduct[product, default: []].append(place) }
            }
        }
    }

    /// The positions of the messages that a slot accepts and that have not failed, the best first.
    func places(for label: SlotLabel) -> [Int] {
        let own = label.productID.flatMap { byProduct[$0] } ?? []
        var places = (own + forAny).filter { !hasFailed[$0] }
        if !own.isEmpty { places.sort() }
        return places.filter { place in
            definitions[place].message.triggers.contains { trigger in
                if case .slot(let own) = trigger { own.accepts(label) } else { false }
            }
        }
    }
}
