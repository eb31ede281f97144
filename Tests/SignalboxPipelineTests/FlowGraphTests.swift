import Foundation
import SignalboxNotification
import Testing

@testable import SignalboxGateway
@testable import SignalboxRouting

@Suite struct FlowGraphTests {
    private static func table(_ routes: [(String, [String])], fallback: [String] = []) throws -> RouteTable {
        let names = Set(routes.flatMap(\.1) + fallback).sorted()
        let destinations = names.map { "\"\($0)\": { \"builtin\": \"inbox\" }" }.joined(separator: ", ")
        let list = routes.map { name, to in
            "{ \"name\": \"\(name)\", \"match\": {}, \"to\": [\(to.map { "\"\($0)\"" }.joined(separator: ","))] }"
        }
        let last = fallback.map { "\"\($0)\"" }.joined(separator: ",")
        let text = """
            { "destinations": { \(destinations) }, "routes": [ \(list.joined(separator: ", ")) ]\
            \(fallback.isEmpty ? "" : ", \"fallback\": [\(last)]") }
            """
        return try RoutedConfig(Array(text.utf8)).routes
    }

    private static func count(_ kind: FlowGraph.Kind, _ name: String, in graph: FlowGraph) -> Int? {
        graph.nodes.first { $0.node == FlowGraph.Node(kind, name) }?.count
    }

    private static func edge(_ from: String, _ to: String, in graph: FlowGraph) -> Int? {
        graph.edges.first { $0.from.id == from && $0.to.id == to }?.count
    }

    @Test func countsEachWay() {
        let counts = FlowCounts()
        for _ in 0..<3 { counts.count(from: SourceName("app"), of: VendorID("mce"), routes: ["a", "b"], times: 2) }
        counts.count(from: SourceName("app"), of: VendorID("braze"), routes: [], times: 1)
        counts.count(from: SourceName("app"), of: VendorID("mce"), routes: ["a", "b"], times: 1)
        #expect(counts.all.map(\.count) == [7, 1])
    }

    @Test func furtherWaysShareOneCount() {
        let counts = FlowCounts()
        for number in 0..<(FlowCounts.most + 50) {
            counts.count(from: SourceName("app"), of: VendorID("v\(number)"), routes: [], times: 1)
        }
        #expect(counts.all.count == FlowCounts.most + 1)
        #expect(counts.all.last?.vendor == FlowCounts.other && counts.all.last?.count == 50)
    }

    @Test func connectsSourcesVendorsRoutesAndDestinations() throws {
        let table = try Self.table([("a", ["crm"]), ("b", ["crm", "inbox"]), ("idle", ["inbox"])])
        let counts = FlowCounts()
        counts.count(from: SourceName("app"), of: VendorID("mce"), routes: ["a", "b"], times: 5)
        counts.count(from: SourceName("web"), of: VendorID("mce"), routes: [], times: 2)
        let graph = FlowGraph(counts.all, routes: table)
        #expect(Self.edge("source:app", "vendor:mce", in: graph) == 5)
        #expect(Self.edge("vendor:mce", "route:a", in: graph) == 5)
        #expect(Self.edge("route:b", "destination:inbox", in: graph) == 5)
        #expect(Self.edge("vendor:mce", "route:\(FlowGraph.unrouted)", in: graph) == 2)
        #expect(Self.count(.vendor, "mce", in: graph) == 7)
        #expect(Self.count(.destination, "crm", in: graph) == 5, "one delivery, although two routes lead there")
        #expect(Self.count(.route, "idle", in: graph) == 0)
        #expect(Self.edge("route:idle", "destination:inbox", in: graph) == 0)
        #expect(!graph.isFolded)
    }

    @Test func theFallbackIsARoute() throws {
        let table = try Self.table([("a", ["crm"])], fallback: ["inbox"])
        let counts = FlowCounts()
        counts.count(from: SourceName("app"), of: VendorID("mce"), routes: [], times: 2)
        let graph = FlowGraph(counts.all, routes: table)
        #expect(Self.edge("route:\(FlowGraph.fallback)", "destination:inbox", in: graph) == 2)
    }

    /// Of many routes, one has the name of the node for the rest.
    @Test func aRouteMayHaveTheNameOfTheFoldedNode() throws {
        let names = (0..<60).map { "r\($0)" } + [FlowGraph.other]
        let counts = FlowCounts()
        for name in names { counts.count(from: SourceName("s"), of: VendorID("v"), routes: [name], times: 3) }
        let graph = FlowGraph(counts.all, routes: try Self.table(names.map { ($0, ["crm"]) }))
        let routes = graph.nodes.filter { $0.node.kind == .route }
        #expect(routes.count == FlowGraph.most && routes.reduce(0) { $0 + $1.count } == 61 * 3)
        #expect(routes.count { $0.node.name == FlowGraph.other } == 1)
        #expect(graph.label(of: FlowGraph.Node(.route, FlowGraph.other)) == "other")
        #expect(graph.label(of: FlowGraph.Node(.destination, "*")) == "*")
    }

    @Test func aRouteNamedByAStarKeepsItsNameInAWholeGraph() throws {
        let table = try Self.table([("*", ["crm"])])
        let graph = FlowGraph(FlowCounts().all, routes: table)
        #expect(graph.nodes.map { graph.label(of: $0.node) } == ["*", "crm"])
    }

    @Test func hasAtMostTwoHundredNodes() throws {
        let table = try Self.table((0..<300).map { ("r\($0)", ["d\($0)"]) })
        let counts = FlowCounts()
        for number in 0..<300 {
            counts.count(
                from: SourceName("s\(number)"), of: VendorID("v\(number)"), routes: ["r\(number)"], times: number + 1)
        }
        let graph = FlowGraph(counts.all, routes: table)
        #expect(graph.isFolded && graph.nodes.count == 200)
        let total = (1...300).reduce(0, +)
        for kind in FlowGraph.Kind.allCases {
            let layer = graph.nodes.filter { $0.node.kind == kind }
            #expect(layer.count == FlowGraph.most && layer.first?.count == 300)
            #expect(layer.reduce(0) { $0 + $1.count } == total, "folding loses no event")
        }
        let between = graph.edges.filter { $0.from.kind == .vendor }
        #expect(between.reduce(0) { $0 + $1.count } == total)
        let ids = Set(graph.nodes.map(\.node.id))
        #expect(ids.count == 200 && graph.edges.allSatisfy { ids.contains($0.from.id) && ids.contains($0.to.id) })
    }
}
