import SignalboxNotification
import SignalboxStore

extension Outage {
    /// Records a failure; true when it is the first one in a row. False for a database that cannot be reached, which
    /// its connections report once for all.
    func begins(by error: any Error) -> Bool { (error as? StoreError)?.isUnreachable == true ? false : begins() }
}
