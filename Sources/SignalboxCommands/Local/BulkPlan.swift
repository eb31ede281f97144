import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxServer
package import SignalboxStore

/// Decides whether a change of many deliveries needs the consent of the operator. Pure.
package enum BulkConsent: Sendable, Equatable {
    /// The change may begin.
    case given
    /// A question to the operator; another answer than yes ends the command.
    case ask(String)
    /// The change must not begin. A sentence.
    case refuse(String)

    /// For a purge. `undelivered`: selected deliveries that were never delivered. `isForced`: the operator consented in
    /// advance. Without a terminal to ask on, only that permits the change.
    package static func purge(undelivered: Int, isForced: Bool, isTerminal: Bool) -> BulkConsent {
        guard undelivered > 0, !isForced else { return .given }
        let were = undelivered == 1 ? "was" : "were"
        guard isTerminal else {
            return .refuse(
                "\(undelivered) of these deliveries \(were) never delivered, so none was removed. "
                    + "Add --yes to remove them.")
        }
        return .ask("\(undelivered) of these deliveries \(were) never delivered. Remove them permanently? [y/N] ")
    }

    /// For a retry. `isNamed`: the operator named each delivery. Scripts are not asked, because a retry loses nothing.
    package static func retry(_ count: Int, isNamed: Bool, isForced: Bool, isTerminal: Bool) -> BulkConsent {
        guard count > 1, !isNamed, !isForced, isTerminal else { return .given }
        return .ask("Requeue \(Counted.words(count, "delivery"))? [y/N] ")
    }

    /// Asks on the terminal if necessary. Throws unless the change may begin. `outcome`: the consequence of another
    /// answer than yes, as a sentence. Blocks until the operator answers. `y` and `yes` in any case consent; the end of
    /// input does not.
    package func obtain(_ outcome: String) throws(CommandFailure) {
        switch self {
        case .given: return
        case .refuse(let sentence): throw .refused(sentence)
        case .ask(let question):
            StandardError.write(question)
            guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else { throw .refused(outcome) }
        }
    }
}

/// The preview of a change, as `--dry-run` prints it.
extension BulkPreview {
    /// The count, the age and the destinations, a line each. `verb`: such as `requeued`. Destinations are in the order
    /// of their names.
    package func lines(_ verb: String) -> [String] {
        let period = accepted.map {
            count == 1
                ? ", accepted at \(Timestamp($0.lowerBound).text)"
                : ", accepted from \(Timestamp($0.lowerBound).text) to \(Timestamp($0.upperBound).text)"
        }
        return ["\(Counted.words(count, "delivery")) would be \(verb)\(period ?? "")"]
            + byDestination.sorted { $0.key < $1.key }.map { name, count in
                "  \(EventLine.printable(name.name)): \(count)"
            }
    }

    /// One object, as `POST /v1/deliveries/retry` previews, without a confirmation.
    package var json: String { JSONText.members { $0.members(of: self) } }
}
