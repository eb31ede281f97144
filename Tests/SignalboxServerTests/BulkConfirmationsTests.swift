import Foundation
import SignalboxEgress
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxServer

@Suite struct BulkConfirmationsTests {
    private let clock = ManualDate()
    private let previewed: Date
    private let conditions = ["state": "dead", "destination": "crm"]

    init() { previewed = clock.now }

    private var confirmations: BulkConfirmations {
        BulkConfirmations(key: Array(repeating: 7, count: 32)) { [clock] in clock.now }
    }

    private var preview: BulkPreview {
        var preview = BulkPreview(at: previewed)
        (preview.count, preview.through) = (12, 34)
        return preview
    }

    private func outcome(
        _ token: String, _ change: BulkChange = .retry, _ conditions: [String: String]? = nil,
        by confirmations: BulkConfirmations? = nil
    ) -> Result<BulkConfirmations.Statements, Problem> {
        do throws(Problem) {
            let confirmations = confirmations ?? self.confirmations
            return .success(try confirmations.statements(of: token, for: change, conditions ?? self.conditions))
        } catch {
            return .failure(error)
        }
    }

    @Test func aTokenSaysWhatThePreviewShowed() throws {
        let token = confirmations.token(for: preview, of: .retry, conditions)
        let statements = try outcome(token).get()
        #expect(statements.through == 34 && statements.count == 12)
        let milliseconds = Int64((preview.at.timeIntervalSince1970 * 1000).rounded(.down))
        #expect(Int64((statements.date.timeIntervalSince1970 * 1000).rounded(.down)) == milliseconds)
    }

    @Test func aTokenIsValidForFiveMinutes() throws {
        let token = confirmations.token(for: preview, of: .retry, conditions)
        clock.advance(by: 300)
        #expect(throws: Never.self) { try outcome(token).get() }
        clock.advance(by: 0.002)
        #expect(outcome(token) == .failure(.confirmExpired))
    }

    @Test func aTokenConfirmsItsOwnPreviewOnly() {
        let token = confirmations.token(for: preview, of: .retry, conditions)
        #expect(outcome(token, .purge) == .failure(.confirmMismatch))
        #expect(outcome(token, .retry, ["state": "dead"]) == .failure(.confirmMismatch))
        #expect(outcome(token, .retry, ["state": "dead", "destination": "crm2"]) == .failure(.confirmMismatch))
        let other = confirmations.token(for: preview, of: .retry, ["event": "a", "vendor": "b"])
        #expect(outcome(other, .retry, ["event": "a1:b", "vendor": ""]) == .failure(.confirmMismatch))
    }

    @Test func aChangedTokenIsNotValid() {
        let token = confirmations.token(for: preview, of: .retry, conditions)
        for (index, character) in zip(token.indices, token) {
            let other: Character = character == "A" ? "B" : "A"
            let changed = token.replacingCharacters(in: index..<token.index(after: index), with: String(other))
            guard case .failure(let problem) = outcome(changed) else {
                // The last character may have bits that the code does not use.
                #expect(token.index(after: index) == token.endIndex, "\(changed) was accepted")
                continue
            }
            #expect(problem.code == "confirm-expired")
        }
        for text in ["", ".", "a.b", token + "A", String(token.dropLast(8)), "🙂"] {
            #expect(outcome(text) == .failure(.confirmExpired), "\(text)")
        }
        let other = BulkConfirmations(key: Array(repeating: 8, count: 32)) { [clock] in clock.now }
        #expect(outcome(token, by: other) == .failure(.confirmExpired))
    }

    @Test func gatewaysWithOneStoreConfirmEachOthersPreviews() throws {
        let keys = DerivedKeys(Array(repeating: 9, count: 32))
        let gateways = (0..<2).map { _ in
            BulkConfirmations(key: keys.key(for: .confirmations)) { [clock] in clock.now }
        }
        let token = gateways[0].token(for: preview, of: .purge, conditions)
        #expect(try gateways[1].statements(of: token, for: .purge, conditions).count == 12)
    }
}
