import SignalboxNotification
package import SignalboxRouting

/// The paths of events as a graph: sources, vendors, routes and destinations, with counts. Pure.
package struct FlowGraph: Sendable {
    /// The layers of the graph. Raw values are those of the API.
    package enum Kind: String, Sendable, CaseIterable {
        case source, vendor, route, destination
    }

    /// A node of one layer.
    package struct Node: Sendable, Hashable {
        package let kind: Kind
        /// As the config or the event has it; ``other`` for folded nodes.
        package let name: String

        package init(_ kind: Kind, _ name: String) { (self.kind, self.name) = (kind, name) }

        /// Unique in the graph.
        package var id: String { name == FlowGraph.other ? "\(kind.rawValue):*" : "\(kind.rawValue):\(name)" }
    }

    /// Events between two nodes.
    package struct Edge: Sendable, Equatable {
        package let from, to: Node
        package let count: Int
    }

    /// The most nodes of each layer, with the folded one.
    package static let most = 50
    /// The name of the node that stands for the nodes with the smallest counts.
    package static let other = "*"
    /// The route of events that no route matched, without and with a fallback.
    package static let (unrouted, fallback) = ("(unrouted)", "(fallback)")

    /// By layer, the largest count first.
    package let nodes: [(node: Node, count: Int)]
    /// In the order of their nodes.
    package let edges: [Edge]
    /// The layers in which nodes were folded.
    private let foldedKinds: Set<Kind>
    /// Whether some nodes were folded.
    package var isFolded: Bool { !foldedKinds.isEmpty }

    /// `flows`: the paths of all events. `routes`: those of the config, which count 0 without events. A route of a
    /// flow that the config no longer has leads to no destination.
    package init(_ flows: [FlowCounts.Flow], routes table: RouteTable) {
        var (nodes, edges): ([Node: Int], [Pair: Int]) = ([:], [:])
        func add(_ from: Node, _ to: Node, _ count: Int) { edges[Pair(from: from, to: to), default: 0] += count }
        var targets: [String: [String]] = [:]
        for route in table.routes {
            targets[route.name] = route.destinations.map(\.name)
            nodes[Node(.route, route.name)] = 0
            for target in targets[route.name] ?? [] {
                nodes[Node(.destination, target)] = 0
                add(Node(.route, route.name), Node(.destination, target), 0)
            }
        }
        targets[Self.fallback] = table.fallback.map(\.name)
        for flow in flows {
            let (source, vendor) = (Node(.source, flow.source), Node(.vendor, flow.vendor))
            nodes[source, default: 0] += flow.count
            nodes[vendor, default: 0] += flow.count
            add(source, vendor, flow.count)
            let none = table.fallback.isEmpty ? Self.unrouted : Self.fallback
            var reached: Set<String> = []
            for name in flow.routes.isEmpty ? [none] : flow.routes {
                let route = Node(.route, name)
                nodes[route, default: 0] += flow.count
                add(vendor, route, flow.count)
                for target in targets[name] ?? [] {
                    add(route, Node(.destination, target), flow.count)
                    reached.insert(target)
                }
            }
            // An event has one delivery to a destination, however many routes lead there.
            for target in reached { nodes[Node(.destination, target), default: 0] += flow.count }
        }
        self.init(folding: nodes, edges)
    }

    /// The name of a node for people: `other` for a folded node. A route named ``other`` keeps its name if no route was
    /// folded.
    package func label(of node: Node) -> String {
        node.name == Self.other && foldedKinds.contains(node.kind) ? "other" : node.name
    }

    private struct Pair: Hashable {
        let from, to: Node
    }

    /// Folds the smallest nodes of each layer into one.
    private init(folding all: [Node: Int], _ pairs: [Pair: Int]) {
        var folded: Set<Node> = []
        nodes = Kind.allCases.flatMap { kind -> [(node: Node, count: Int)] in
            let layer = all.filter { $0.key.kind == kind }.map { (node: $0.key, count: $0.value) }
                .sorted { ($1.count, $0.node.name) < ($0.count, $1.node.name) }
            guard layer.count > Self.most else { return layer }
            // A route may have the name of the folded node.
            let kept = layer.filter { $0.node.name != Self.other }.prefix(Self.most - 1)
            let rest = layer.filter { layer in !kept.contains { $0.node == layer.node } }
            folded.formUnion(rest.map(\.node))
            let sum = rest.reduce(0) { $0 + $1.count }
            return Array(kept) + [(node: Node(kind, Self.other), count: sum)]
        }
        func shown(_ node: Node) -> Node { folded.contains(node) ? Node(node.kind, Self.other) : node }
        var edges: [Pair: Int] = [:]
        for (pair, count) in pairs { edges[Pair(from: shown(pair.from), to: shown(pair.to)), default: 0] += count }
        let order = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($1.node, $0) })
        func position(_ edge: Edge) -> (Int, Int) { (order[edge.from] ?? .max, order[edge.to] ?? .max) }
        self.edges = edges.map { Edge(from: $0.key.from, to: $0.key.to, count: $0.value) }
            .sorted { position($0) < position($1) }
        foldedKinds = Set(folded.map(\.kind))
    }
}
