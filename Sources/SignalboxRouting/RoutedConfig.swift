package import SignalboxConfig
import SignalboxJSON
import SignalboxNotification

/// A config and its routes, with patterns and templates compiled: nothing in it can fail later.
package struct RoutedConfig: Sendable {
    package var config: GatewayConfig
    package let routes: RouteTable

    /// A config without any option.
    package init() {
        config = GatewayConfig()
        routes = RouteTable()
    }

    /// Reads and checks a config: its own file, and after it those that only add sources, destinations and routes.
    /// Throws every error found in any of them; warnings are in the config.
    package init(_ files: [ConfigText]) throws(InvalidConfig) {
        var reading = try ConfigReading(files)
        var compiler = RouteCompiler(diagnostics: reading.diagnostics)
        let routes = compiler.routes(of: reading.config)
        if compiler.diagnostics.errorCount == 0 { compiler.warn(about: reading.config, routes) }
        reading.diagnostics = compiler.diagnostics
        config = try reading.finish()
        var table = RouteTable(routes: routes, fallback: config.fallback)
        for destination in config.destinations { table.orderings[destination.name] = destination.ordering }
        table.payloadTakers = Set(config.destinations.filter(\.wantsPayload).map(\.name))
        self.routes = table
    }

    /// Reads and checks a config that is one text.
    package init(_ text: [UInt8]) throws(InvalidConfig) {
        try self.init([ConfigText(name: "routes.json", bytes: text)])
    }
}

/// Compiles what routes and destinations declare, and records what is wrong.
struct RouteCompiler {
    var diagnostics: ConfigDiagnostics
    private let parser = JSONParser()
    private var totals = PatternTotals()

    init(diagnostics: ConfigDiagnostics) { self.diagnostics = diagnostics }

    mutating func routes(of config: GatewayConfig) -> [Route] {
        for destination in config.destinations {
            if case .webhook(let webhook) = destination.endpoint, case .template(let source) = webhook.format {
                _ = template(source)
            }
        }
        return config.routes.map { route($0) }
    }

    private mutating func route(_ options: RouteOptions) -> Route {
        var route = Route(
            name: options.name, match: pattern(of: options), destinations: options.destinations, stop: options.stop,
            ignoring: options.ignoring, including: options.including, media: options.media)
        route.isEnabled = options.isEnabled
        route.sample = options.sample.map { RouteSample(share: $0) }
        route.window = options.window
        route.variant = variant(of: options)
        return route
    }

    private mutating func pattern(of options: RouteOptions) -> Pattern {
        parser.reset()
        guard let text = options.match, let root = try? parser.parse(text.bytes) else { return .everything }
        var patterns = PatternReader(
            ConfigReader(parser: parser, roots: [root], base: options.location.appending("match")))
        patterns.totals = totals
        let pattern = patterns.pattern(root)
        totals = patterns.totals
        diagnostics.append(patterns.reader.diagnostics)
        return pattern
    }

    private mutating func variant(of options: RouteOptions) -> EventVariant? {
        guard !options.redactions.isEmpty || options.transform != nil else { return nil }
        var variant = EventVariant()
        if !options.redactions.isEmpty {
            var redaction = Redaction()
            for entry in options.redactions {
                let isNew = redaction.add(entry.action, at: entry.pointer)
                precondition(isNew, "The config has two redactions of one place.")
            }
            variant.redaction = redaction
        }
        switch options.transform {
        case .map(let fields): variant.transform = .map(fields)
        case .template(let source): variant.transform = template(source).map { .template($0) }
        case nil: break
        }
        return variant
    }

    private mutating func template(_ source: TemplateSource) -> EventTemplate? {
        do throws(InvalidTemplate) {
            return try EventTemplate(body: source.body, contentType: source.contentType)
        } catch {
            let place = error.position.map { "line \($0.line), column \($0.column) of " } ?? ""
            let name = source.file.map { " in \($0)" } ?? ""
            diagnostics.error(at: source.location, "\(place)the template\(name): \(error.message)")
            return nil
        }
    }
}

extension EventTemplate {
    /// Compiles the template of a config that was read without errors.
    package init(_ source: TemplateSource) {
        do throws(InvalidTemplate) {
            try self.init(body: source.body, contentType: source.contentType)
        } catch {
            preconditionFailure("A template of a checked config is invalid: \(error.message)")
        }
    }
}
