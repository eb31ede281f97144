/// Why a commit failed, and whether the same writes may succeed without one of them.
package struct CommitFailure: Error {
    package let reason: StoreError
    /// False when the whole file is affected, for example by a full disk: then every other write would fail too.
    package let mayBeOfOneWrite: Bool

    package init(reason: StoreError, mayBeOfOneWrite: Bool) {
        self.reason = reason
        self.mayBeOfOneWrite = mayBeOfOneWrite
    }
}
