package import Foundation
package import SignalboxConfig
package import SignalboxJSON
package import SignalboxNotification

/// A payload or an event and the routes that should take it: one entry of a file that `signalbox routes test` runs.
package struct RouteCase: Sendable {
    /// Names the case in results.
    package let name: String
    /// The payload or event to route.
    package let input: Input
    /// The source of a payload, and when it arrived; nil for now.
    package let source: SourceName
    /// The `time` of the event that a payload becomes.
    package let time: Date?
    /// Names of the routes that should take it, in the config's order.
    package let routes: [String]
    /// The destinations that it should go to, in any order; nil for any.
    package let destinations: [String]?

    /// A payload or event in the case itself, or a file that holds it.
    package enum Input: Sendable {
        /// The JSON of the case, used unchanged.
        case text(JSONText)
        /// The path of its file, relative to the folder of the cases, and the location of the path in their file.
        case file(String, ConfigLocation)
    }

    /// The most cases of one file.
    package static let limit = 10_000

    /// Reads a file of cases: a JSON array. `config`: has the routes and destinations that they name. Throws all
    /// mistakes of the file with their positions. Unknown names are mistakes, with a suggestion.
    package static func read(_ file: ConfigText, for config: GatewayConfig) throws(InvalidConfig) -> [RouteCase] {
        let parser = JSONParser()
        let root = try parser.parse(file.bytes) { error in
            let message = "the file is empty; it should contain a JSON array of cases"
            let mistake =
                error.reason == .empty
                ? ConfigMistake(file: 0, pointer: "", place: nil, in: file.bytes, message: message)
                : ConfigMistake(error, file: 0, in: file.bytes)
            return InvalidConfig(mistakes: [mistake])
        }
        var reader = ConfigReader(parser: parser, roots: [root])
        let cases = reader.routeCases(root, of: config)
        try reader.diagnostics.throwErrors(in: [file])
        return cases
    }
}

extension ConfigReader {
    /// All cases without mistakes; records the mistakes of the others.
    fileprivate mutating func routeCases(_ value: JSONValue, of config: GatewayConfig) -> [RouteCase] {
        if value.isArray,
            !(1...RouteCase.limit).contains(value.elements.prefix(RouteCase.limit + 1).count { _ in true })
        {
            note(value, "this must have 1 to \(RouteCase.limit) cases")
            return []
        }
        let (routes, destinations) = (Set(config.routes.map(\.name)), Set(config.destinations.map(\.name.name)))
        return list(value, upTo: RouteCase.limit).enumerated().compactMap { index, item in
            routeCase(item, at: index, of: config, routes: routes, destinations: destinations)
        }
    }

    /// One case; nil after a mistake. `index`: its position in the list. `time` must be an RFC 3339 time; `name` must
    /// fit on one line.
    private mutating func routeCase(
        _ value: JSONValue, at index: Int, of config: GatewayConfig, routes: Set<String>, destinations: Set<String>
    ) -> RouteCase? {
        let keys = ["name", "payload", "event", "file", "source", "time", "expect", "expectDestinations"]
        guard isObject(value, keys: keys) else { return nil }
        let name = value["name"].flatMap { line($0) }
        if value["name"] == nil { note(value, "a case needs a \"name\"") }
        if value["expect"] == nil {
            note(value, "a case needs \"expect\": the names of the routes that match it, [] for none")
        }
        let input = input(of: value, at: index)
        let source = value["source"].flatMap { text($0) }
        if let member = value["source"], let source, !NameRule.allows(source) {
            note(member, "invalid name: " + NameRule.words)
        }
        let time = value["time"].flatMap { instant($0) }
        let routes = value["expect"].map { names($0, of: "route", among: routes) }
        let destinations = value["expectDestinations"].map { names($0, of: "destination", among: destinations) }
        guard let name, let input, let routes else { return nil }
        return RouteCase(
            name: name, input: input, source: source.map { SourceName($0) } ?? .default,
            time: time.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1000) }, routes: routes,
            destinations: destinations)
    }

    /// The one input of a case; nil after a mistake. Exactly one of the members `payload`, `event` and `file` must be
    /// present.
    private mutating func input(of value: JSONValue, at index: Int) -> RouteCase.Input? {
        let given = [value["payload"], value["event"], value["file"]].compactMap { $0 }
        guard let input = given.first, given.count == 1 else {
            note(value, "a case must have either a \"payload\", an \"event\", or a \"file\" that holds one of them")
            return nil
        }
        if value["file"] != nil {
            let location = ConfigLocation(pointer: "/\(index)/file")
            return line(input).map { .file($0, location) }
        }
        guard input.isObject else { return refuse(input, "this must be an object, in braces") }
        return .text(JSONText(input))
    }

    /// Names from the config; records a mistake for each unknown name. Keeps unknown names, because an error ends the
    /// reading of the file anyway.
    private mutating func names(_ value: JSONValue, of kind: String, among known: Set<String>) -> [String] {
        var names: [String] = []
        for entry in list(value, upTo: ConfigBounds.routes) {
            guard let name = text(entry) else { continue }
            if !known.contains(name) {
                note(entry, "there is no \(kind) \"\(name)\"" + Self.suggestion(for: name, among: known.sorted()))
            }
            names.append(name)
        }
        return names
    }
}
