import Foundation
package import SignalboxInApp
package import SignalboxJSON
package import SignalboxNotification

/// The values of `routes.json`. The `options` of each struct in this folder document its properties.
///
/// The values have passed the checks of their declarations, and defaults fill in omitted options. Secrets are
/// references; ``SecretResolver`` reads them.
package struct GatewayConfig: Sendable {
    /// Names and addresses of the gateway as a whole.
    package var gateway = Gateway()
    /// Clients that may send payloads; empty permits every client on this machine.
    package var sources: [SourceName: Source] = [:]
    /// Access of operators; no token without `admin`.
    package var admin = Admin()
    /// Names of the detectors to ask, in order; nil for all in the registry's order.
    package var chain: [String]?
    /// Entries in the format of the catalogue; nil without `detectors.custom`.
    package var customDetectors: JSONText?
    /// Special-purpose addresses that every destination may have.
    package var egressAllow: [AddressRange] = []
    /// How long ended events are stored.
    package var retention = Retention()
    /// Accepted payloads as operators see them.
    package var console = Console()
    /// Declared categories, and the limits on those that payloads define.
    package var categories = Categories()
    /// The types that actions may have.
    package var actions = ActionTypes()
    /// Downloads of files for routes with ``RouteMedia/stored(wait:)``.
    package var media = Media()
    /// Rules across vendors for in-app messages, validated.
    package var inapp = Policy()
    /// Rules by which provider endpoints answer with failures, in the order of evaluation. Names are unique.
    package var failures: [FailureRule] = []
    /// The export of traces and metrics.
    package var telemetry = Telemetry()
    /// In the order of the files, and of the keys within each of them. Names are unique.
    package var destinations: [Destination] = []
    /// In the order of evaluation, those of `routes.d` last. Includes disabled routes.
    package var routes: [RouteOptions] = []
    /// Destinations of events that match no route; empty to store such events without a delivery.
    package var fallback: [DestinationName] = []
    /// Harmless oddities, such as a destination without events or a route that no event reaches.
    package var warnings: [ConfigMistake] = []
    /// The files that the config was read from.
    package var origin = Origin()

    /// The defaults: a valid config without sources, destinations and routes.
    package init() {}

    /// The vendors of the sources whose vendor the config names.
    package var sourceVendors: [SourceName: VendorID] { sources.compactMapValues(\.vendor) }

    /// The names that the vendor of an event can have: those of detectors and sources, and `unknown`. Sorted.
    package var vendorNames: [String] {
        let recognised = vendorChain.vendors + sourceVendors.values
        return Set(recognised.map(\.name) + [VendorID.unknown.name]).sorted()
    }

    /// The detectors to ask. The config must have been read without errors. Traps otherwise. Made at each call.
    package var vendorChain: VendorChain {
        do throws(UnknownDetector) {
            return try VendorChain(named: chain, custom: customDetectors.map { Catalogue($0) })
        } catch {
            preconditionFailure("A checked config names the unknown detector \(error.name).")
        }
    }

    /// The files of a config.
    package struct Origin: Sendable, Equatable {
        /// All files that were read for it: its own, those in `routes.d`, templates, the environment file, certificates
        /// of listeners with their keys. Not those of other secrets.
        package var files: [String] = []
        /// The folder whose further files belong to it; it need not exist.
        package var folder: String?
        /// SHA-256 of its own file and those in `routes.d`, concatenated, in hexadecimal digits. Nodes that share a
        /// store compare it.
        package var digest = ""

        /// Empty for a config that was not read from files.
        package init(files: [String] = [], folder: String? = nil, digest: String = "") {
            (self.files, self.folder, self.digest) = (files, folder, digest)
        }
    }

    /// Settings of the process. Command-line options override the address and the directory.
    package struct Gateway: Sendable, Equatable {
        /// Follows ``NameRule``.
        package var name = "signalbox"
        /// An http or https URL; nil when clients have no common one.
        package var publicUrl: String?
        /// The addresses to listen on.
        package var listen = Listen()
        /// The path as written; nil for the default.
        package var dataDirectory: String?
        /// The store of events and deliveries; nil for the default, SQLite.
        package var store: Store?
        /// The path of a file of variables, as written; nil for those of the process only.
        package var environmentFile: String?
        /// The newest pushes to the provider endpoints.
        package var captures = Captures()

        /// The name by which webhooks know the gateway: the host of its public URL, otherwise its name.
        var origin: String {
            let host = publicUrl.flatMap { URLComponents(string: $0)?.host }
            return host.flatMap { Destination.Handshake.allows(origin: $0) ? $0 : nil } ?? name
        }
    }

    /// How long ended events are stored.
    package struct Retention: Sendable, Equatable {
        /// Counts from the time of acceptance, once all deliveries have ended.
        package var ended: Duration = .seconds(7 * 86_400)
        /// Instead of ``ended`` for events with a dead delivery.
        package var dead: Duration = .seconds(30 * 86_400)
        /// The largest size of the queue's file.
        package var bytes: Int64 = 10 << 30
    }
}

// MARK: Options

extension GatewayConfig {
    /// Every option of `routes.json`.
    static let options = Section(GatewayConfig()) {
        Option(ignoring: "$schema", inParts: true, "The location of this schema, for editors. Has no effect.")
        Option(ignoring: "$comment", inParts: true, "Text for readers, of any form. Has no effect.")
        Option("gateway", \.gateway, .section(Gateway.options), "The gateway as a whole.")
        Option(
            "sources", \.sources, Source.type, adding: { $0.merge($1) { first, _ in first } },
            "Clients that may send payloads, by name. Without sources, every client on this machine may.")
        Option("detectors", group: detectors, "Recognition of vendors.")
        Option("egress", \.egressAllow, egress, "Outgoing connections.")
        Option("destinations", \.destinations, Destination.type, adding: { $0 += $1 }, "Receivers of events, by name.")
        Option(
            "routes", \.routes, RouteOptions.type.entry("[]"), adding: { $0 += $1 },
            "Routes from events to destinations. Every matching route applies, in order; those of `routes.d` come last."
        )
        Option("fallback", \.fallback, .destinations, "Destinations of events that match no route.")
        Option("retention", \.retention, .section(Retention.options), "Storage of ended events.")
        Option("admin", \.admin, .section(Admin.options), "Access of operators to the queue and the operations API.")
        Option("console", \.console, .section(Console.options), "Accepted payloads as operators see them.")
        Option("actions", \.actions, .section(ActionTypes.options), "Actions of notifications and buttons.")
        Option("categories", \.categories, .section(Categories.options), "Sets of action buttons.")
        Option("media", \.media, .section(Media.options), "Downloads of files for routes with `\"media\": \"stored\"`.")
        Option("inapp", \.inapp, .section(Policy.options), "In-app messages: rules across vendors.")
        Option(
            "failures", \.failures, FailureRule.type.entry("[]"),
            "Failures that provider endpoints answer with, for tests of senders. The first rule that is due applies to a push."
        )
        Option("telemetry", \.telemetry, .section(Telemetry.options), "Export of traces and metrics to a collector.")
    }

    /// The options of a file in `routes.d`: the gateway as a whole is configured in one file. Other options of the
    /// config are errors in such a file.
    static let partOptions = Section(
        GatewayConfig(),
        options: options.options.map { option in
            let key = option.info.key
            return option.info.isInParts
                ? option
                : option.misplaced(
                    "\"\(key)\" belongs in the config itself; this file may add sources, destinations and routes")
        })

    /// Concerns all destinations; `media.allow` concerns downloads.
    private static let egress = OptionType<[AddressRange]>.section(
        Section([]) { Option("allow", \.self, .ranges, "Special-purpose addresses that the gateway may connect to.") })

    /// Rejects entries of the catalogue that the chain would never ask.
    private static let detectors = Section(GatewayConfig()) {
        Option(
            "chain", \.chain,
            OptionType<String>.word("detector", among: Vendors.names).schema(OptionType<String>.text.info.schema)
                .set(of: "detectors") { "\"\($0)\" is in the chain twice; remove one" },
            "The detectors to ask. Their order decides between equally strong evidence. Default: all.")
        Option(
            "custom", \.customDetectors, catalogueEntries,
            "Vendors of your own, in the format of the catalogue (`signalbox schema detector`).")
    } check: { config, value, reader in
        guard let custom = value["custom"], let chain = config.chain, !chain.contains("catalogue") else { return }
        reader.note(custom, "detectors.chain does not contain \"catalogue\", so custom detectors never run; add it")
    }

    /// Checked here, compiled when the vendor chain is made.
    private static let catalogueEntries = OptionType<JSONText>(
        TypeInfo(
            "array of catalogue entries",
            ["type": "array", "items": ["type": "object", "required": ["vendor", "markers"]]])
    ) { value, reader in
        let most = ConfigBounds.entries
        if value.isArray, reader.entries(value, 0...most, orElse: "") == nil { return nil }
        for mistake in Catalogue.mistakes(in: value, with: reader.parser) {
            reader.diagnostics.error(at: ConfigLocation(pointer: mistake.pointer), mistake.message)
        }
        return JSONText(value)
    }

    /// The error for an object without tokens; see ``OptionType/auth(_:)``. `owner`: a subject and its verb, such as
    /// "a source needs".
    static func needsToken(_ owner: String) -> String {
        "\(owner) at least one token: \"auth\": {\"bearer\": [\"env:TOKEN\"]}"
    }
}

extension GatewayConfig.Gateway {
    /// Rejects a public URL with a query, because links are appended to it.
    fileprivate static let options = Section(GatewayConfig.Gateway()) {
        Option("name", \.name, .name, "Part of every event's `source`: `/signalbox/NAME/SOURCE`.")
        Option(
            "publicUrl", \.publicUrl, .url,
            "The URL at which clients reach the gateway, without a query. Links to stored files begin with it; its host is the default `handshake.origin`, and browsers may use the console under it."
        )
        Option(
            "listen", \.listen, .listen,
            "The address to listen on. An object names the addresses of the API and of the provider endpoints.")
        Option(
            "dataDir", \.dataDirectory, .path,
            "The directory of the queue and the stored files. `--data-dir` and `SIGNALBOX_DATA_DIR` override it. Default: `data`."
        )
        Option(
            "store", \.store, .store,
            "The store of events and deliveries: `sqlite` in the data directory, or the PostgreSQL database of this URL, which several gateways may share. `--store` and `SIGNALBOX_STORE` override it. A change needs a restart. Default: `sqlite`."
        )
        Option(
            "environmentFile", \.environmentFile, .path,
            "A file of `NAME=VALUE` lines. References `env:NAME` use its variables before those of the process. A reload reads it again, and a change of the file causes a reload."
        )
        Option(
            "captures", \.captures, .section(GatewayConfig.Captures.options),
            "The newest pushes to the provider endpoints, in memory.")
    } check: { gateway, value, reader in
        guard let member = value["publicUrl"], gateway.publicUrl?.contains("?") == true else { return }
        reader.note(url: member, "links are appended to this URL; remove its query")
    }
}

extension GatewayConfig.Retention {
    /// Waiting deliveries are never removed, however old they are.
    fileprivate static let options = Section(GatewayConfig.Retention()) {
        Option(
            "ended", \.ended, .duration(from: "1m", to: "3660d", example: "7d"),
            "How long to store an event from its acceptance, once all its deliveries ended.")
        Option(
            "dead", \.dead, .duration(from: "1m", to: "3660d", example: "30d"),
            "The same for an event with a dead delivery.")
        Option(
            "bytes", \.bytes, .int64(.whole((1 << 20)...(1 << 50))),
            "Largest size of the queue's file, or of the content of a database, without in-app rows. Beyond it, the gateway removes old ended events."
        )
    }
}

extension OptionType<[SecretReference]> {
    /// The bearer tokens of clients. `owner`: the clients and their need, for errors.
    static func auth(_ owner: String) -> OptionType {
        let missing = GatewayConfig.needsToken(owner)
        let tokens = OptionType<SecretReference>.reference.list(
            of: "references", 1...ConfigBounds.entries, orElse: missing)
        return .section(
            Section([]) {
                Option("bearer", \.self, tokens, required: missing, "Bearer tokens. The gateway accepts each of them.")
            })
    }
}
