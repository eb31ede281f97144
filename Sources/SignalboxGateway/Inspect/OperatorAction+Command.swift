package import Foundation
import SignalboxNotification
package import SignalboxStore

/// Rows of the action log for changes from the command line.
extension OperatorAction {
    /// The actor is the user of the process. `target`: the object that changes.
    package static func command(
        _ operation: String, target: String? = nil, parameters: [String: String] = [:], reason: String? = nil
    ) -> OperatorAction {
        OperatorAction(
            by: "cli:\(getuid())", via: .cli, operation, target: target, parameters: parameters, reason: reason)
    }

    /// A pause of a destination, with its end.
    package static func command(_ operation: String, target: String, until: Date?, reason: String?) -> OperatorAction {
        let parameters = until.map { ["until": Timestamp($0).text] } ?? [:]
        return command(operation, target: target, parameters: parameters, reason: reason)
    }

    /// A change of selected deliveries. A single one is the target.
    package static func command(_ operation: String, _ filter: DeliveryFilter, reason: String?) -> OperatorAction {
        var parameters: [String: String] = [:]
        parameters["state"] = filter.state?.rawValue
        parameters["destination"] = filter.destination?.name
        parameters["event"] = filter.event
        parameters["vendor"] = filter.vendor
        parameters["status"] = filter.status.map { $0.count == 1 ? String($0.lowerBound) : "\($0.lowerBound / 100)xx" }
        parameters["error"] = filter.error
        parameters["since"] = filter.acceptedSince.map { Timestamp($0).text }
        parameters["until"] = filter.acceptedBefore.map { Timestamp($0).text }
        let ids = filter.ids?.map { String($0) } ?? []
        if ids.count > 1 { parameters["ids"] = ids.joined(separator: ",") }
        return command(operation, target: ids.count == 1 ? ids[0] : nil, parameters: parameters, reason: reason)
    }
}
