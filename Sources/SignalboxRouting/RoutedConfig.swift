package import SignalboxConfig
import SignalboxJSON

/// A config and its routes, with all patterns and templates compiled and checked.
package struct RoutedConfig: Sendable {
    /// The options as declared, with warnings.
    package var config: GatewayConfig
    /// The routes of the config, compiled.
    package let routes: RouteTable
    /// The failure rules of the config, compiled, in the order of evaluation.
    package let failures: [FailureSelector]
    /// The files that it was read from; none for a config without any option.
    package private(set) var files: [ConfigText] = []

    /// A config without any option.
    package init() {
        config = GatewayConfig()
        routes = RouteTable()
        failures = []
    }

    /// Reads and checks a config: its main file first, then the files that only add sources, destinations and routes.
    /// Throws all errors of all files; warnings are in the config. Fails as a whole: there is no config with only
    /// some of its routes.
    package init(_ files: [ConfigText]) throws(InvalidConfig) {
        var reading = try ConfigReading(files)
        var compiler = RouteCompiler(diagnostics: reading.diagnostics)
        let routes = compiler.routes(of: reading.config)
        failures = reading.config.failures.map { compiler.failure($0) }
        if compiler.diagnostics.errorCount == 0 { compiler.warn(about: reading.config, routes) }
        reading.diagnostics = compiler.diagnostics
        config = try reading.finish()
        var table = RouteTable(routes: routes, fallback: config.fallback)
        for destination in config.destinations { table.orderings[destination.name] = destination.ordering }
        table.payloadTakers = Set(config.destinations.filter(\.wantsPayload).map(\.name))
        (self.routes, self.files) = (table, files)
    }

    /// Reads and checks a config of one file. Errors name the file `routes.json`.
    package init(_ text: [UInt8]) throws(InvalidConfig) {
        try self.init([ConfigText(name: "routes.json", bytes: text)])
    }
}

/// Compiles the patterns and templates of a config, and records their mistakes. The order matters: ``routes(of:)``
/// first, then warnings, which compare the compiled routes.
struct RouteCompiler {
    /// Errors and warnings, including those of earlier stages.
    var diagnostics: ConfigDiagnostics
    private let parser = JSONParser()
    /// Totals of all patterns so far.
    private var totals = PatternReader.Totals()

    /// `diagnostics`: those of the stages before, to which this stage appends.
    init(diagnostics: ConfigDiagnostics) { self.diagnostics = diagnostics }

    /// The compiled routes, in order. Also checks the templates of destinations, which their senders compile again.
    mutating func routes(of config: GatewayConfig) -> [Route] {
        for destination in config.destinations {
            if case .webhook(let webhook) = destination.endpoint, case .template(let source) = webhook.format {
                _ = template(source)
            }
        }
        return config.routes.map { route($0) }
    }

    /// Copies the options of a route and compiles its pattern and variant. Mistakes are recorded, not thrown.
    private mutating func route(_ options: RouteOptions) -> Route {
        var route = Route(
            name: options.name, match: pattern(options.match, at: options.location), destinations: options.destinations,
            stop: options.stop, ignoring: options.ignoring, including: options.including, media: options.media)
        route.isEnabled = options.isEnabled
        route.sample = options.sample.map { RouteSample(share: $0) }
        route.window = options.window
        route.variant = variant(of: options)
        return route
    }

    /// The failure rule with its pattern compiled.
    mutating func failure(_ rule: FailureRule) -> FailureSelector {
        FailureSelector(rule, pattern(rule.match, at: rule.location))
    }

    /// The pattern `match` of an object, read from its text: it shares the totals of all patterns. An object without
    /// `match` takes every event. The text was valid JSON when the config was read.
    private mutating func pattern(_ text: JSONText?, at location: ConfigLocation) -> Pattern {
        parser.reset()
        guard let text, let root = try? parser.parse(text.bytes) else { return .everything }
        var patterns = PatternReader(ConfigReader(parser: parser, roots: [root], base: location.appending("match")))
        patterns.totals = totals
        let pattern = patterns.pattern(root)
        totals = patterns.totals
        diagnostics.append(patterns.reader.diagnostics)
        return pattern
    }

    /// The variant that a route makes; nil if it neither redacts nor transforms. A redaction is applied before the
    /// transformation. The config has checked that its pointers do not overlap.
    private mutating func variant(of options: RouteOptions) -> EventVariant? {
        guard !options.redactions.isEmpty || options.transform != nil else { return nil }
        var variant = EventVariant()
        if !options.redactions.isEmpty {
            var redaction = Redaction()
            for entry in options.redactions {
                let isNew = redaction.add(entry.action, at: entry.pointer)
                precondition(isNew, "The config has two redactions of one value.")
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

    /// The compiled template; nil after a mistake, which is recorded at the option that holds the template. A
    /// template from a file is named in the message.
    private mutating func template(_ source: TemplateSource) -> EventTemplate? {
        do throws(InvalidTemplate) {
            return try EventTemplate(body: source.body, contentType: source.contentType)
        } catch {
            let position = error.position.map { "line \($0.line), column \($0.column) of " } ?? ""
            let name = source.file.map { " in \($0)" } ?? ""
            diagnostics.error(at: source.location, "\(position)the template\(name): \(error.message)")
            return nil
        }
    }
}

extension EventTemplate {
    /// Compiles the template of a config that was read without errors. Stops the process if the template is invalid:
    /// the config was checked before.
    package init(_ source: TemplateSource) {
        do throws(InvalidTemplate) {
            try self.init(body: source.body, contentType: source.contentType)
        } catch {
            preconditionFailure("A template of a checked config is invalid: \(error.message)")
        }
    }
}
