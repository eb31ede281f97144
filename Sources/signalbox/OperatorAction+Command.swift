import Foundation
import SignalboxNotification
import SignalboxStore

/// Rows of the action log for changes from the command line.
extension OperatorAction {
    /// The actor is the user of the process. `target`: the object that changes.
    static func command(
        _ operation: String, target: String? = nil, parameters: [String: String] = [:], reason: String?
    ) -> OperatorAction {
        OperatorAction(
            by: "cli:\(getuid())", via: .cli, operation, target: target, parameters: parameters, reason: reason)
    }

    /// A change of selected deliveries. A single one is the target.
    static func command(_ operation: String, _ filter: DeliveryFilter, reason: String?) -> OperatorAction {
        var parameters: [String: String] = [:]
        parameters["state"] = filter.state?.rawValue
        parameters["destination"] = filter.destination?.name
        parameters["until"] = filter.acceptedBefore.map { Timestamp($0).text }
        let ids = filter.ids?.map { String($0) } ?? []
        if ids.count > 1 { parameters["ids"] = ids.joined(separator: ",") }
        return command(operation, target: ids.count == 1 ? ids[0] : nil, parameters: parameters, reason: reason)
    }
}
