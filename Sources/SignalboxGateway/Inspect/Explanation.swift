import SignalboxInApp
package import SignalboxNotification
package import SignalboxRouting

/// Explains how one payload is recognised and routed, as text for a person: platform, detectors with their evidence,
/// event, and the verdict of each route. Stores and sends nothing. `signalbox explain` uses it. Its output is for
/// people and may change between versions.
package struct Explanation {
    private let normalizer: Normalizer
    private let chain: VendorChain
    private let routes: RouteTable
    private let failures: [FailureDecider.Entry]
    /// The vendor that the config gives the source replaces the detectors' choice.
    private let reception: Reception

    /// `chain`: the detectors of `normalizer`. `reception`: source and time of the payload. The normalizer and the
    /// routes must come from the same config. `routes`: those without sampling for a repeatable answer, as the id of
    /// the event decides about a sample. `failures`: the failure rules of the config.
    package init(
        _ normalizer: Normalizer, chain: VendorChain, routes: RouteTable, failures: [FailureSelector] = [],
        as reception: Reception
    ) {
        self.normalizer = normalizer.forPreviews
        (self.chain, self.routes) = (chain, routes)
        self.failures = FailureDecider(failures, hashedBy: normalizer.tokens).entries
        self.reception = reception
    }

    /// Explains a payload and passes each section to `print`, in order: the platform with the detectors, the event,
    /// each of its in-app messages, the routes, and the failure rules if the config has any. `body`: exactly one
    /// payload. Throws the rejection that the sender would receive, with its position in `body`; the first section may
    /// be printed by then.
    package func explain(_ body: [UInt8], print: (String) -> Void) throws(Rejection) {
        let parser = Normalizer.makeParser()
        let event = try body.withUnsafeBufferPointer { bytes throws(Rejection) in
            let payload = try normalizer.recognise(bytes, at: PayloadPosition(), with: parser)
            print(recognition(payload))
            return try normalizer.event(bytes, as: reception, at: PayloadPosition(), with: parser)
        }
        print("\nEvent\n" + Self.indented(event.body))
        for message in event.messages { print("\nIn-app message \(message.id)\n" + Self.indented(message.body)) }
        print("\nRoutes\n" + routing(of: event))
        let trial = FailureTrial(failures, on: event.body, from: reception.source)
        guard !trial.verdicts.isEmpty else { return }
        let lines = trial.lines.map { "  " + $0 }
        print("\nFailure rules, if it were a push to a provider endpoint\n" + lines.joined(separator: "\n"))
    }

    /// True if a body that is not one payload is an array, or holds two or more payloads. The command then tells the
    /// user to pass one payload. Stops reading after the second payload. For the error message only: it costs a parse
    /// of the payloads.
    package func holdsSeveral(_ body: [UInt8]) -> Bool {
        var blocks = PayloadBlocks()
        blocks.append(body)
        blocks.finish()
        var count = 0
        blocks.take().read(by: normalizer, as: reception, with: Normalizer.makeParser()) { result in
            if case .success = result { count += 1 }
            return count < 2
        }
        return blocks.isArray || count > 1
    }

    /// Lists every detector that matched, then the details of each link of the chain, then the choice. The payload is
    /// borrowed, because it points into the parser's memory.
    private func recognition(_ payload: borrowing PlatformPayload) -> String {
        var lines = ["Platform\n  \(payload.platform.rawValue), as \(payload.envelope.rawValue)", "\nDetectors"]
        let matches = chain.matches(for: payload)
        for match in matches.all {
            let evidence = match.detection.evidence.joined(separator: ", ")
            lines.append("  \(match.vendor): yes, \(match.detection.strength) at \(evidence)")
        }
        for link in chain.links { lines += link.explain(payload).map { "  " + $0 } }
        if let vendor = reception.vendor {
            lines.append("  Vendor: \(vendor), because the config names it for the source \(reception.source).")
        } else {
            lines.append("  Vendor: " + Self.verdict(matches))
        }
        return lines.joined(separator: "\n")
    }

    /// The first of the detections with the greatest strength wins; a hint alone never does. A clause that completes
    /// `Vendor: `.
    private static func verdict(_ matches: VendorMatches) -> String {
        guard let winner = matches.winner else {
            return matches.all.isEmpty ? "unknown." : "unknown: a hint alone does not identify a vendor."
        }
        let equals = matches.all.filter { $0.detection.strength == winner.detection.strength }
        let reason =
            matches.all.count == 1
            ? "" : equals.count == 1 ? ", which has the strongest evidence" : ", the first of equal evidence"
        return "\(winner.vendor)\(reason)."
    }

    /// The decision comes from the index, the reasons from each route by itself. One line for each route, then the
    /// destinations of the fallback, or the fact that no route matches.
    private func routing(of event: Event) -> String {
        guard let document = EventDocument(event.body) else { return "  The event is too large to be routed." }
        return document.withRoot { root, _ in
            do throws(RoutingTooCostly) {
                let decision = try routes.decide(root)
                let verdicts = Result { () throws(RoutingTooCostly) in try routes.verdicts(on: root) }
                return Self.lines(decision, verdicts).joined(separator: "\n")
            } catch {
                return "  The gateway rejects the payload: \(error)."
            }
        }
    }

    /// If finding the reasons takes too much work, it lists the routes that match without them. `verdicts`: one for
    /// each route of the table, in its order.
    private static func lines(
        _ decision: RouteTable.Decision, _ verdicts: Result<[(route: Route, verdict: RouteVerdict)], RoutingTooCostly>
    ) -> [String] {
        func names(_ destinations: [DestinationName]) -> String { destinations.map(\.name).joined(separator: ", ") }
        var lines: [String]
        switch verdicts {
        case .success(let verdicts):
            lines = verdicts.map { route, verdict in
                "  \(route.name): \(verdict.words)" + (verdict == .taken ? ", to \(names(route.destinations))" : "")
            }
        case .failure:
            lines = decision.routes.map { "  \($0): yes" }
            lines.append("  The reasons of the other routes take too much work to find.")
        }
        if decision.destinations.isEmpty {
            lines.append("  No route matches: the event would be stored and not delivered.")
        } else if decision.routes.isEmpty {
            lines.append("  fallback: to \(names(decision.destinations))")
        }
        return lines
    }
}
